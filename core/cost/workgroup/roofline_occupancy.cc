// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/roofline_occupancy.h"

#include <algorithm>

namespace stria::cost {

double part_of_goal(double is, int64_t goal) {
  return std::min(is, static_cast<double>(goal)) / static_cast<double>(goal);
}

GroupScore score_of(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings) {
  GroupScore out;
  int64_t points = 1, outputs = 1, all = 1;
  out.groups = out.inner_tiles = 1;
  for (size_t i = 0; i < tile.size(); ++i) {
    const int64_t range = kernel.indices[i].range, count = ceil_div(range, tile[i]);
    points = saturating_product(points, range);
    all = saturating_product(all, tile[i]);
    int64_t& tiles = kernel.writes_apart(i) ? out.groups : out.inner_tiles;
    tiles = saturating_product(tiles, count);
    if (kernel.writes_apart(i)) outputs = saturating_product(outputs, tile[i]);
  }
  // A product and a sum for each point.
  out.operations =
      saturating_product(saturating_product(points, kernel.post_operations + 2), settings.vec_size);
  // Searches ask for thousands of tiles: memory is taken once.
  thread_local LanePlan lanes;
  thread_local StagePlan stage;
  plan_lanes(kernel, tile, settings, lanes);
  const int64_t bytes = byte_size(kernel.output.type);
  out.lanes_at_work = std::min(settings.threads, all);
  for (const FlatTensor& input : kernel.inputs) {
    plan_stage(input, tile, settings, stage);
    if (!settings.use_global)
      out.shared_bytes += saturating_product(stage.elements, byte_size(input.type));
    out.read_bytes += saturating_product(stage.transactions, settings.mem_width);
  }
  for (DataType type : kernel.post_inputs)
    out.read_bytes += saturating_product(lanes.transactions, byte_size(type));
  if (outputs < out.lanes_at_work) out.shared_bytes += settings.threads * bytes;
  out.register_bytes = saturating_product(lanes.registers, bytes);
  out.written_bytes = saturating_product(saturating_product(lanes.transactions, settings.mem_width),
                                         kernel.written_tensors);
  for (int64_t sums = outputs; sums < out.lanes_at_work; sums *= 2) ++out.merging_steps;
  out.lanes_used = std::max(out.lanes_at_work, lanes.lanes);
  const double moved = static_cast<double>(out.groups) *
                       (static_cast<double>(out.inner_tiles) * static_cast<double>(out.read_bytes) +
                        static_cast<double>(out.written_bytes));
  out.flops_per_byte = static_cast<double>(out.operations) / moved;
  if (out.shared_bytes > settings.max_mem) {
    out.verdict = GroupScore::Verdict::over_memory;
    return out;
  }
  if (out.register_bytes > settings.max_regs) {
    out.verdict = GroupScore::Verdict::over_registers;
    return out;
  }
  out.roof_ratio = part_of_goal(out.flops_per_byte, settings.goal_flops_per_byte);
  out.occupancy_ratio = part_of_goal(static_cast<double>(out.groups), settings.goal_groups);
  out.lane_ratio = static_cast<double>(out.lanes_used) / static_cast<double>(settings.threads);
  out.score = out.roof_ratio * out.occupancy_ratio * out.lane_ratio;
  return out;
}

std::string to_string(const GroupScore& s, const GroupSettings& settings) {
  const std::string terms = fmt::format(
      "operations={} groups={} inner_tiles={} shared_bytes={} register_bytes={} read_bytes={} "
      "written_bytes={} "
      "lanes_at_work={} merging_steps={} lanes_used={}\n",
      s.operations, s.groups, s.inner_tiles, s.shared_bytes, s.register_bytes, s.read_bytes,
      s.written_bytes, s.lanes_at_work, s.merging_steps, s.lanes_used);
  if (s.verdict == GroupScore::Verdict::over_memory)
    return terms + fmt::format("over memory: {} bytes of {}\n", s.shared_bytes, settings.max_mem);
  if (s.verdict == GroupScore::Verdict::over_registers)
    return terms +
           fmt::format("over registers: {} bytes of {}\n", s.register_bytes, settings.max_regs);
  return terms + fmt::format(
                     "flops_per_byte={:.6g} occupancy={} roof_ratio={:.6g} occupancy_ratio={:.6g} "
                     "lane_ratio={:.6g} score={:.6g}\n",
                     s.flops_per_byte, std::min(s.groups, settings.goal_groups), s.roof_ratio,
                     s.occupancy_ratio, s.lane_ratio, s.score);
}

}  // namespace stria::cost
