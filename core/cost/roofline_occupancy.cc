// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/roofline_occupancy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace stria::cost {
namespace {

int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

// Different elements of a tensor that a tile of these sizes touches, at least. `apart`: exactly so
// many as it has points along the tensor's indices.
struct Elements {
  double least = 1;
  bool apart = true;
};
Elements elements_of(const FlatTensor& tensor, const Tile& tile) {
  thread_local std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  steps.clear();
  for (size_t i = 0; i < tile.size(); ++i)
    if (tensor.strides[i] != 0) steps.emplace_back(magnitude(tensor.strides[i]), tile[i]);
  std::sort(steps.begin(), steps.end());
  Elements out;
  double reach = 0;
  for (const auto& [stride, size] : steps) {
    const bool clear = static_cast<double>(stride) > reach;
    out.apart = out.apart && (clear || size == 1);
    const auto n = static_cast<double>(size);
    out.least = clear ? out.least * n : out.least + n - 1;
    reach += static_cast<double>(stride) * (n - 1);
  }
  return out;
}

// The settings' aim, at most 1.
double share(double is, int64_t goal) {
  return std::min(is, static_cast<double>(goal)) / static_cast<double>(goal);
}

double all_points(const FlatKernel& kernel) {
  double out = 1;
  for (const FlatKernel::Index& index : kernel.indices) out *= static_cast<double>(index.range);
  return out;
}

double count_of(const FlatKernel& kernel, const Tile& tile, size_t i) {
  return static_cast<double>(ceil_div(kernel.indices[i].range, tile[i]));
}

// Bytes to and from main memory, at least, of all tiles of any sizes in the box.
double least_moved(const FlatKernel& kernel, const Tile& low, const Tile& high,
                   const GroupSettings& settings) {
  const auto width = [&](DataType type) {
    return static_cast<double>(std::max<int64_t>(1, settings.mem_width / byte_size(type)));
  };
  double tiles = 1, transactions = 1;
  for (size_t i = 0; i < low.size(); ++i) {
    tiles *= count_of(kernel, high, i);
    const int64_t stride = magnitude(kernel.output.strides[i]);
    if (stride != 0)
      transactions *= static_cast<double>(kernel.indices[i].range) /
                      (stride == 1 ? width(kernel.output.type) : 1);
  }
  transactions *= static_cast<double>(kernel.written_tensors);
  for (const FlatTensor& input : kernel.inputs) {
    // A tile's elements come in transactions of at most `width`, the last one is not cut off: their
    // number is at least half of elements / width.
    double least =
        tiles * std::max(1.0, std::floor(elements_of(input, low).least / width(input.type)));
    if (elements_of(input, high).apart) {
      double fetched = all_points(kernel) / width(input.type) / 2;
      for (size_t i = 0; i < low.size(); ++i)
        if (input.strides[i] == 0) fetched /= static_cast<double>(high[i]);
      least = std::max(least, fetched);
    }
    transactions += least;
  }
  return transactions * static_cast<double>(settings.mem_width);
}

}  // namespace

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
  out.threads_at_work = std::min(settings.threads, all);
  for (const FlatTensor& input : kernel.inputs) {
    plan_stage(input, tile, settings, stage);
    if (!settings.use_global)
      out.shared_bytes += saturating_product(stage.elements, byte_size(input.type));
    out.read_bytes += saturating_product(stage.transactions, settings.mem_width);
  }
  for (DataType type : kernel.post_inputs)
    out.read_bytes += saturating_product(lanes.transactions, byte_size(type));
  if (outputs < out.threads_at_work) out.shared_bytes += settings.threads * bytes;
  out.register_bytes = saturating_product(lanes.registers, bytes);
  out.written_bytes = saturating_product(saturating_product(lanes.transactions, settings.mem_width),
                                         kernel.written_tensors);
  for (int64_t sums = outputs; sums < out.threads_at_work; sums *= 2) ++out.merging_steps;
  out.threads_used = std::max(out.threads_at_work, lanes.lanes);
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
  out.roof_ratio = share(out.flops_per_byte, settings.goal_flops_per_byte);
  out.occupancy_ratio = share(static_cast<double>(out.groups), settings.goal_groups);
  out.thread_ratio = static_cast<double>(out.threads_used) / static_cast<double>(settings.threads);
  out.score = out.roof_ratio * out.occupancy_ratio * out.thread_ratio;
  return out;
}

double score_bound(const FlatKernel& kernel, const Tile& low, const Tile& high,
                   const GroupSettings& settings) {
  // So that rounding, here and in the score, never makes a bound too low.
  constexpr double kRounding = 1 + 1e-9;
  double groups = 1, points = 1, lanes = 1;
  for (size_t i = 0; i < low.size(); ++i) {
    points *= static_cast<double>(high[i]);
    if (!kernel.writes_apart(i)) continue;
    groups *= count_of(kernel, low, i);
    lanes *= static_cast<double>(power_of_two_above(high[i]));
  }
  const double operations = all_points(kernel) * static_cast<double>(kernel.post_operations + 2) *
                            static_cast<double>(settings.vec_size);
  const double roof = share(operations / least_moved(kernel, low, high, settings) * kRounding,
                            settings.goal_flops_per_byte);
  return roof * share(groups, settings.goal_groups) *
         share(std::max(points, lanes), settings.threads);
}

bool all_larger_are_over(const FlatKernel& kernel, const Tile& tile,
                         const GroupSettings& settings) {
  double outputs = 1, shared = 0;
  for (size_t i = 0; i < tile.size(); ++i)
    if (kernel.writes_apart(i)) outputs *= static_cast<double>(tile[i]);
  // Each output of the tile has an accumulator, each element of an operand its place.
  if (outputs * static_cast<double>(byte_size(kernel.output.type)) >
      static_cast<double>(settings.max_regs))
    return true;
  for (const FlatTensor& input : kernel.inputs)
    if (!settings.use_global)
      shared += elements_of(input, tile).least * static_cast<double>(byte_size(input.type));
  return shared > static_cast<double>(settings.max_mem);
}

std::string to_string(const GroupScore& s, const GroupSettings& settings) {
  const std::string terms = fmt::format(
      "operations={} groups={} inner_tiles={} shared_bytes={} register_bytes={} read_bytes={} "
      "written_bytes={} "
      "threads_at_work={} merging_steps={} threads_used={}\n",
      s.operations, s.groups, s.inner_tiles, s.shared_bytes, s.register_bytes, s.read_bytes,
      s.written_bytes, s.threads_at_work, s.merging_steps, s.threads_used);
  if (s.verdict == GroupScore::Verdict::over_memory)
    return terms + fmt::format("over memory: {} bytes of {}\n", s.shared_bytes, settings.max_mem);
  if (s.verdict == GroupScore::Verdict::over_registers)
    return terms +
           fmt::format("over registers: {} bytes of {}\n", s.register_bytes, settings.max_regs);
  return terms + fmt::format(
                     "flops_per_byte={:.6g} occupancy={} roof_ratio={:.6g} occupancy_ratio={:.6g} "
                     "thread_ratio={:.6g} score={:.6g}\n",
                     s.flops_per_byte, std::min(s.groups, settings.goal_groups), s.roof_ratio,
                     s.occupancy_ratio, s.thread_ratio, s.score);
}

}  // namespace stria::cost
