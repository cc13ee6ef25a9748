// SPDX-License-Identifier: Apache-2.0
#include "emit/program.h"

#include <algorithm>

#include "emit/group_check.h"
#include "emit/matrix_patches.h"
#include "emit/requirements.h"
#include "emit/spirv.h"
#include "stria/poly/affine.h"

namespace stria::vulkan {
namespace {

// Points that do not meet run in groups of so many: a multiple of every GPU's subgroup.
constexpr int64_t kGroupPoints = 64;

// `count` groups in up to three dimensions; a few of the last ones may have nothing to do.
Result<std::array<int64_t, 3>> spread(int64_t count, const std::array<int64_t, 3>& largest) {
  if (count <= largest[0]) return std::array<int64_t, 3>{count, 1, 1};
  const int64_t rows = ceil_div(count, largest[0]), layers = ceil_div(rows, largest[1]);
  if (layers > largest[2])
    return make_error(StatusCode::out_of_range,
                      "it has {} groups, the device runs {} x {} x {} at most", count, largest[0],
                      largest[1], largest[2]);
  const int64_t y = ceil_div(rows, layers);
  return std::array<int64_t, 3>{ceil_div(count, y * layers), y, layers};
}

Result<KernelCode> describe(const semtree::KernelBlock& block, size_t number,
                            const Features& features, const semtree::SourceOptions& options) {
  STRIA_ASSIGN(semtree::Function function, semtree::build_kernel(block, options));
  KernelCode out;
  if (subgroup_operation(function)) out.without_patches = function;
  function = through_patches(std::move(function), features, options.build.subgroup_lanes, false);
  semtree::KernelDescription about = semtree::describe(block, function, number, options);
  const std::string where = fmt::format("kernel '{}'", about.name);
  if (Status lacks = check_device(function, features, options.shared_bytes); !lacks.ok())
    return lacks.with_context(where);
  out.groups = about.groups;
  if (function.grid.size() <= 1) {
    Result<std::array<int64_t, 3>> groups = spread(about.groups[0], options.build.largest_grid);
    if (!groups) return groups.status().with_context(where);
    out.groups = *groups;
  }
  out.name = std::move(about.name);
  out.symbol = std::move(about.symbol);
  out.in_prologue = about.in_prologue;
  out.statement = about.statement;
  out.group_lanes = about.group_points;
  out.arguments = std::move(about.arguments);
  out.shared_bytes = options.shared_bytes;
  out.matrix_lanes = options.build.subgroup_lanes;
  // The product may be more than 64 bits hold: then the device refuses it (group_check.h).
  out.takes_base_group = double{1} * out.groups[0] * out.groups[1] * out.groups[2] >
                         static_cast<double>(features.whole_groups);
  out.addresses_in_buffer = push_bytes(out) > features.push_bytes;
  out.semtree = std::move(about.semtree);
  out.function = std::move(function);
  return out;
}

}  // namespace

uint32_t push_bytes(const KernelCode& kernel) {
  const size_t addresses = kernel.addresses_in_buffer ? 1 : kernel.arguments.size();
  return kAddressBytes * static_cast<uint32_t>(addresses) +
         (kernel.takes_base_group ? kBaseGroupBytes : 0);
}

semtree::SourceOptions source_options(const Limits& limits) {
  semtree::SourceOptions out;
  out.build.max_lanes = 16;
  out.build.only_powers_of_two_lanes = true;
  out.build.narrow_indices = true;
  out.build.shared_vector_bytes = 16;
  out.build.largest_grid = limits.groups;
  out.group_points = std::min(kGroupPoints, limits.group_lanes);
  out.largest_group = limits.group_lanes;
  out.shared_bytes = limits.shared_bytes;
  return out;
}

Result<std::vector<KernelCode>> build_kernels(const stripe::Program& program,
                                              const Features& features,
                                              const semtree::SourceOptions& options) {
  STRIA_ASSIGN(const semtree::ProgramKernels kernels, semtree::kernels_of(program));
  std::vector<KernelCode> out;
  for (const semtree::KernelBlock& block : kernels.kernels) {
    STRIA_ASSIGN(KernelCode code, describe(block, out.size(), features, options));
    out.push_back(std::move(code));
  }
  return out;
}

std::vector<uint32_t> without_names(std::span<const uint32_t> words) {
  constexpr size_t kHeader = 5;  // words
  const auto part = [&](size_t from, size_t count) { return words.subspan(from, count); };
  const auto header = part(0, std::min(kHeader, words.size()));
  std::vector<uint32_t> out(header.begin(), header.end());
  for (size_t at = kHeader; at < words.size();) {
    const auto op = static_cast<spv::Op>(words[at] & 0xffff);
    const size_t count = std::clamp<size_t>(words[at] >> 16, 1, words.size() - at);
    const auto one = part(at, count);
    if (op != spv::Op::OpName && op != spv::Op::OpMemberName && op != spv::Op::OpEntryPoint)
      out.insert(out.end(), one.begin(), one.end());
    at += count;
  }
  return out;
}

}  // namespace stria::vulkan
