// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/roofline_occupancy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace stria::cost {
namespace {

int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

// A tensor's indices as they step through it: stride, size of a tile; by stride.
using Steps = std::vector<std::pair<int64_t, int64_t>>;

// Searches ask for thousands of tiles: memory is taken once.
void steps_of(const FlatTensor& tensor, const Tile& tile, Steps& out) {
  out.clear();
  for (size_t i = 0; i < tile.size(); ++i) {
    if (tensor.strides[i] == 0) continue;
    out.emplace_back(magnitude(tensor.strides[i]), tile[i]);
    for (size_t k = out.size() - 1; k > 0 && out[k] < out[k - 1]; --k)
      std::swap(out[k], out[k - 1]);
  }
}

// Different elements of a tensor that a tile of these sizes touches, at least.
double least_elements(const FlatTensor& tensor, const Tile& tile) {
  thread_local Steps steps;
  steps_of(tensor, tile, steps);
  double out = 1, reach = 0;
  for (const auto& [stride, size] : steps) {
    const auto n = static_cast<double>(size);
    out = static_cast<double>(stride) > reach ? out * n : out + n - 1;
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

// Of the elements that a tile of at most these sizes stages, as a part of its points along the
// tensor's indices: at least so many. An index that is merged into others (plan_stage) makes their
// range r one of r + m * (size - 1), m of its own steps not over r.
double least_merged(const FlatTensor& tensor, const Tile& high) {
  thread_local Steps steps;
  steps_of(tensor, high, steps);
  double out = 1, reach = 0;
  for (const auto& [stride, size] : steps) {
    const auto step = static_cast<double>(stride), n = static_cast<double>(size);
    if (step <= reach) out *= 1 / n + (1 - 1 / n) * step / (reach + step);
    reach += step * (n - 1);
  }
  return out;
}

// Elements that come in one transaction, at most, in tiles of at most these sizes.
double most_together(const FlatTensor& tensor, const Tile& high, double width) {
  double reach = 0, least = width;
  for (size_t i = 0; i < high.size(); ++i) {
    const auto stride = static_cast<double>(magnitude(tensor.strides[i]));
    if (stride == 0) continue;
    reach += stride * static_cast<double>(high[i] - 1);
    least = std::min(least, stride);
  }
  return std::max(1.0, std::floor(std::min(width, reach + least) / least));
}

// Bytes to and from main memory, at least, of all tiles of any sizes in the box.
struct LeastMoved {
  double bytes = 0;
  double written = 0;  // of these
  // Each input's bytes are at least a number over the tile's points along the indices that it does
  // not move with: the product of these numbers. No output index is one of two inputs' such
  // indices.
  double fetched = 1;
  bool apart = true;
};
LeastMoved least_moved(const FlatKernel& kernel, const Tile& low, const Tile& high,
                       const GroupSettings& settings) {
  const auto width = [&](DataType type) {
    return static_cast<double>(std::max<int64_t>(1, settings.mem_width / byte_size(type)));
  };
  const auto line = static_cast<double>(settings.mem_width);
  LeastMoved out;
  out.written = line * static_cast<double>(kernel.written_tensors);
  double tiles = 1;
  for (size_t i = 0; i < low.size(); ++i) {
    tiles *= count_of(kernel, high, i);
    const int64_t stride = magnitude(kernel.output.strides[i]);
    if (stride == 0) continue;
    out.written *= static_cast<double>(kernel.indices[i].range);
    if (stride == 1)
      out.written /= std::min(width(kernel.output.type), static_cast<double>(high[i]));
    int still = 0;
    for (const FlatTensor& input : kernel.inputs) still += input.strides[i] == 0;
    out.apart = out.apart && still <= 1;
  }
  out.bytes = out.written;
  for (const FlatTensor& input : kernel.inputs) {
    const double together = most_together(input, high, width(input.type));
    // The last transaction is not cut off: of n or more there are at least n / (n + 1) of what
    // divides evenly.
    const double whole = std::max(1.0, std::floor(least_elements(input, low) / together));
    double fetched = line * all_points(kernel) * least_merged(input, high) / together * whole /
                     (whole + 1),
           outputs = 1, reductions = 1;
    for (size_t i = 0; i < low.size(); ++i)
      if (input.strides[i] == 0)
        (kernel.writes_apart(i) ? outputs : reductions) *= static_cast<double>(high[i]);
    fetched /= reductions;
    out.fetched *= fetched;
    out.bytes += std::max(line * tiles * whole, fetched / outputs);
  }
  return out;
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
  double fewest = 1, most = 1, all = 1;  // outputs of a tile, and of all groups with what is beyond
  for (size_t i = 0; i < low.size(); ++i) {
    const auto size = static_cast<double>(high[i]);
    points *= size;
    if (!kernel.writes_apart(i)) continue;
    groups *= count_of(kernel, low, i);
    lanes *= static_cast<double>(power_of_two_above(high[i]));
    fewest *= static_cast<double>(low[i]);
    most *= size;
    all *= low[i] == high[i] ? size * count_of(kernel, high, i)
                             : static_cast<double>(kernel.indices[i].range) + size - 1;
  }
  const double operations = all_points(kernel) * static_cast<double>(kernel.post_operations + 2) *
                            static_cast<double>(settings.vec_size);
  const LeastMoved moved = least_moved(kernel, low, high, settings);
  const auto roof = [&](double bytes) {
    return share(operations / bytes * kRounding, settings.goal_flops_per_byte);
  };
  double out = roof(moved.bytes) * share(groups, settings.goal_groups);
  if (moved.apart && !kernel.inputs.empty()) {
    // Tiles of more outputs fetch less, but there are fewer of them. Of all sizes the best one has
    // as many outputs as leave the groups that are asked for; and of its shapes the one of which
    // all inputs fetch the same, for a sum of n numbers is not below n times the n-th root of their
    // product.
    const auto n = static_cast<double>(kernel.inputs.size());
    const auto goal = static_cast<double>(settings.goal_groups);
    const double outputs = std::clamp(all / goal, fewest, most);
    const double bytes = moved.written + n * std::pow(moved.fetched / outputs, 1 / n);
    out = std::min(out, roof(bytes) * std::min(1.0, all / (outputs * goal) * kRounding));
  }
  return out * share(std::max(points, lanes), settings.threads);
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
      shared += least_elements(input, tile) * static_cast<double>(byte_size(input.type));
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
