// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <algorithm>

#include "dispatch_time.h"
#include "emit/group_check.h"
#include "emit/matrix_check.h"
#include "emit/program.h"
#include "library.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

// Lanes of a group whose points are independent: enough that none of a subgroup is idle.
constexpr int64_t kGroupPoints = 256;
// On a processor's cores several small groups share the work better than one.
constexpr int64_t kGroupPointsOfSoftware = 64;

// llvmpipe counts down from a number in every loop of a kernel, and leaves them all when it is 0.
void check_iterations(const std::vector<KernelCode>& kernels, const FoundDevice& device) {
  const int64_t most = device.limits.loop_iterations;
  if (most == 0) return;
  for (const KernelCode& kernel : kernels) {
    const double iterations = work_of_group(kernel, GroupFacts()).iterations;
    if (iterations > static_cast<double>(most))
      throw sdk::Error(
          STRIA_OUT_OF_RANGE,
          fmt::format("kernel '{}': a lane runs up to {:.0f} iterations of loops; '{}' "
                      "runs {} at most, and leaves the others out",
                      kernel.name, iterations, device.info.name, most));
  }
}

}  // namespace

sdk::Ref<sdk::Library> VulkanCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildRequest request = code_generator::read_request(stripe, options);
  context_.check_not_lost();
  const FoundDevice& device = context_.device();
  Features features = device.features;
  features.fast_math = request.fast_math;
  if (context_.cuts_dispatches()) features.whole_groups = context_.dispatch_limit().units;
  semtree::SourceOptions source = source_options(device.limits);
  source.group_points = std::min(device.limits.group_lanes,
                                 device.is_software ? kGroupPointsOfSoftware : kGroupPoints);
  source.build.subgroup_unit = kSubgroupUnit;
  source.build.subgroup_lanes = matrix_lanes(features, device.subgroup);
  source.build.peepholes = request.peepholes();
  // Without 64-bit integers a tensor has one index, which must not be negative: some drivers take
  // it as unsigned. With offsets, places before where a view begins have negative ones.
  source.build.argument_offsets = features.int64;
  source.print_semtree = request.dump_source;
  std::vector<KernelCode> kernels =
      code_generator::require(build_kernels(request.program, features, source));
  code_generator::require(
      check_groups(request.program, kernels, features, device.limits, device.subgroup));
  check_iterations(kernels, device);
  return sdk::make<VulkanLibrary>(context_, std::move(kernels), features);
}

}  // namespace stria::vulkan
