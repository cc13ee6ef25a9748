// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <algorithm>

#include "emit/program.h"
#include "library.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

// Lanes of a group whose points are independent: enough that none of a subgroup is idle.
constexpr int64_t kGroupPoints = 256;
// On a processor's cores several small groups share the work better than one.
constexpr int64_t kGroupPointsOfSoftware = 64;

}  // namespace

sdk::Ref<sdk::Library> VulkanCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildRequest request = code_generator::read_request(stripe, options);
  context_.check_not_lost();
  const FoundDevice& device = context_.device();
  Features features = device.features;
  features.fast_math = request.fast_math;
  semtree::SourceOptions source = source_options(device.limits);
  source.group_points = std::min(device.limits.group_lanes,
                                 device.is_software ? kGroupPointsOfSoftware : kGroupPoints);
  source.build.enough_parallel_points = INT32_MAX;
  source.print_semtree = request.dump_source;
  return sdk::make<VulkanLibrary>(
      context_, code_generator::require(build_kernels(request.program, features, source)),
      features);
}

}  // namespace stria::vulkan
