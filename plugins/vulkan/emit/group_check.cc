// SPDX-License-Identifier: Apache-2.0
#include "emit/group_check.h"

#include <algorithm>

#include "emit/matrix_check.h"
#include "emit/requirements.h"
#include "emit/subgroup_values.h"
#include "stria/poly/affine.h"
#include "stria/semtree/build/lane_units.h"
#include "stria/semtree/tree/print.h"

namespace stria::vulkan {
namespace {

using semtree::Function;

std::string text_of_subgroup(int64_t lanes) {
  return lanes > 0 ? fmt::format("subgroups of {} lanes", lanes)
                   : "subgroups of a size that its driver chooses";
}

Status check_limits(const KernelCode& kernel, const Features& features, const Limits& limits,
                    int64_t subgroup_lanes) {
  if (kernel.group_lanes > limits.group_lanes)
    return make_error(StatusCode::out_of_range,
                      "its groups have {} lanes; '{}' runs {} at most, in {}", kernel.group_lanes,
                      features.device, limits.group_lanes, text_of_subgroup(subgroup_lanes));
  for (size_t d = 0; d < kernel.groups.size(); ++d)
    if (kernel.groups[d] > limits.groups[d])
      return make_error(StatusCode::out_of_range,
                        "it has {} groups in dimension {} ({} x {} x {}); '{}' runs {} there at "
                        "most (groups of {} lanes, {})",
                        kernel.groups[d], "xyz"[d], kernel.groups[0], kernel.groups[1],
                        kernel.groups[2], features.device, limits.groups[d], kernel.group_lanes,
                        text_of_subgroup(subgroup_lanes));
  if (const int64_t shared = shared_layout(kernel.function, features).end;
      shared > limits.shared_bytes)
    return make_error(StatusCode::out_of_range,
                      "the {} lanes of a group share {} bytes as '{}' lays them out ({}); it has "
                      "{} for them",
                      kernel.group_lanes, shared, features.device, text_of_subgroup(subgroup_lanes),
                      limits.shared_bytes);
  return {};
}

// Are there as many groups and lanes as the kernel's function counts on?
Status check_points(const KernelCode& kernel) {
  const Function& function = kernel.function;
  const auto& groups = kernel.groups;
  const auto wrong = [&](const std::string& why) {
    return internal_error("{} x {} x {} groups of {} lanes are dispatched; {}", groups[0],
                          groups[1], groups[2], kernel.group_lanes, why);
  };
  if (kernel.group_lanes < 1 ||
      std::any_of(groups.begin(), groups.end(), [](int64_t count) { return count < 0; }))
    return wrong("there are no fewer than 1 lane and 0 groups");
  const bool in_groups = function.group_lanes > 1;
  if (in_groups && kernel.group_lanes != function.group_lanes)
    return wrong(fmt::format("its groups have {} lanes", function.group_lanes));
  int64_t sized = 1;
  for (const Function::GridDim& dim : function.grid) sized *= dim.size;
  if (!function.grid.empty() && sized != function.trip_count)
    return wrong(fmt::format("its grid has {} groups for {} points", sized, function.trip_count));
  if (function.grid.size() > 1) {
    for (size_t d = 0; d < 3; ++d) {
      const int64_t size = d < function.grid.size() ? function.grid[d].size : 1;
      if (groups[d] != size)
        return wrong(fmt::format("its grid has {} groups in dimension {}", size, "xyz"[d]));
    }
    return {};
  }
  // Numbers beyond the last one do nothing; but all that are meant to run are there.
  int64_t reached = in_groups ? 1 : kernel.group_lanes;
  for (int64_t count : groups)
    if (__builtin_mul_overflow(reached, count, &reached)) return wrong("that overflows 64 bits");
  if (reached < function.trip_count)
    return wrong(fmt::format("it has {} {}", function.trip_count, in_groups ? "groups" : "points"));
  return {};
}

// "the instruction 'x'", or the statement.
std::string text_of(const semtree::Statement& operation, const Function& function) {
  if (auto* instruction = std::get_if<semtree::Instruction>(&operation.op))
    return fmt::format("the instruction '{}'", instruction->name);
  const std::string text = semtree::print(operation, function);
  return "'" + text.substr(0, text.find('\n')) + "'";
}

Status check_subgroups(const KernelCode& kernel, const Features& features, int64_t subgroup_lanes) {
  const semtree::Statement* first = subgroup_operation(kernel.function);
  if (!first) return {};
  const std::string what = text_of(*first, kernel.function);
  if (subgroup_lanes <= 0)
    return unsupported(
        "a subgroup runs {} together; '{}' does not let the size of subgroups be "
        "chosen (subgroupSizeControl)",
        what, features.device);
  // Of a function without groups of its own the last group may be a part of one.
  if (kernel.function.group_lanes == 1 || idle_lanes(kernel.group_lanes, subgroup_lanes) > 0)
    return unsupported(
        "a subgroup runs {} together; groups of {} lanes are no whole subgroups "
        "of {} lanes on '{}'",
        what, kernel.function.group_lanes, subgroup_lanes, features.device);
  if (const auto* divided = SubgroupValues(kernel.function, subgroup_lanes).divided())
    return unsupported(
        "a subgroup runs {} together; the conditions around it may hold for a part of the {} lanes "
        "of a subgroup on '{}', or the place of its matrix may differ",
        text_of(*divided, kernel.function), subgroup_lanes, features.device);
  return {};
}

}  // namespace

int64_t idle_lanes(int64_t group_lanes, int64_t subgroup_lanes) {
  return subgroup_lanes <= 0 ? 0
                             : ceil_div(group_lanes, subgroup_lanes) * subgroup_lanes - group_lanes;
}

const semtree::Statement* subgroup_operation(const Function& function) {
  const semtree::Statement* first = nullptr;
  semtree::walk(function.body, [&](const semtree::Statement& statement) {
    if (!first && is_subgroup_operation(statement)) first = &statement;
  });
  return first;
}

Status check_group(const KernelCode& kernel, const Features& features, const Limits& limits,
                   int64_t subgroup_lanes) {
  Status status = check_limits(kernel, features, limits, subgroup_lanes);
  if (status.ok()) status = check_points(kernel);
  if (status.ok()) status = check_subgroups(kernel, features, subgroup_lanes);
  return status.ok() ? status : status.with_context(fmt::format("kernel '{}'", kernel.name));
}

Status check_units(const stripe::Block& kernel, const Features& features, int64_t subgroup_lanes) {
  Result<std::vector<semtree::LaneUnit>> units =
      semtree::lane_units(kernel, {kSubgroupUnit, matrix_lanes(features, subgroup_lanes)});
  if (!units) return units.status();
  for (const semtree::LaneUnit& unit : *units)
    if (unit.name == kSubgroupUnit && unit.inside != subgroup_lanes)
      return unsupported("its units '{}' have {} lanes each; '{}' has {}", kSubgroupUnit,
                         unit.inside, features.device, text_of_subgroup(subgroup_lanes))
          .with_context(fmt::format("kernel '{}'", kernel.name));
  return {};
}

Status check_groups(const stripe::Program& program, const std::vector<KernelCode>& kernels,
                    const Features& features, const Limits& limits, int64_t subgroup_lanes) {
  for (const KernelCode& kernel : kernels) {
    STRIA_RETURN_IF_ERROR(check_group(kernel, features, limits, subgroup_lanes));
    const stripe::Block* part = kernel.in_prologue ? program.prologue() : program.main();
    const stripe::Block* block = part->stmts[static_cast<size_t>(kernel.statement)].block();
    // A special that is a statement of its own has no lane blocks.
    if (block) STRIA_RETURN_IF_ERROR(check_units(*block, features, subgroup_lanes));
  }
  return {};
}

}  // namespace stria::vulkan
