// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/score_bound.h"

#include <algorithm>
#include <cmath>

#include "stria/cost/block/numbers.h"
#include "stria/cost/workgroup/roofline_occupancy.h"

namespace stria::cost {
namespace {

// Rounding, here and in the score, must never make a bound too low.
constexpr double kRounding = 1 + 1e-9;

}  // namespace

ScoreBound::ScoreBound(const FlatKernel& kernel, const GroupSettings& settings)
    : kernel_(kernel), settings_(settings) {
  for (const FlatKernel::Index& index : kernel.indices) points_ *= as_double(index.range);
  operations_ = points_ * as_double(kernel.post_operations + 2) * as_double(settings.vec_size);
  for (const FlatTensor& tensor : kernel.inputs) {
    Input& input = inputs_.emplace_back();
    input.bytes = as_double(byte_size(tensor.type));
    input.width = as_double(std::max<int64_t>(1, settings.mem_width / byte_size(tensor.type)));
    std::vector<size_t> order;
    for (size_t i = 0; i < tensor.strides.size(); ++i) {
      if (tensor.strides[i] != 0)
        order.push_back(i);
      else
        (kernel.writes_apart(i) ? input.outputs : input.sums).push_back(i);
    }
    const auto stride = [&](size_t i) { return magnitude(tensor.strides[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return stride(a) < stride(b); });
    for (size_t i : order) {
      Step step{i, as_double(stride(i)), {}};
      for (size_t k = 0; k < input.steps.size(); ++k)
        if (stride(i) % stride(order[k]) == 0)
          step.heads.push_back({k, as_double(stride(i) / stride(order[k]))});
      input.steps.push_back(std::move(step));
    }
  }
  for (size_t i = 0; i < kernel.indices.size(); ++i) {
    const auto still = std::count_if(
        kernel.inputs.begin(), kernel.inputs.end(),
        [&](const FlatTensor& input) { return kernel.writes_apart(i) && input.strides[i] == 0; });
    apart_ = apart_ && still <= 1;
  }
}

double ScoreBound::count_of(const Tile& tile, size_t index) const {
  return as_double(ceil_div(kernel_.indices[index].range, tile[index]));
}

// The least number of different elements of a tensor that a tile of these sizes touches.
double ScoreBound::least_elements(const Input& input, const Tile& tile) {
  double out = 1, reach = 0;
  for (const Step& step : input.steps) {
    const double size = as_double(tile[step.index]);
    out = step.stride > reach ? out * size : out + size - 1;
    reach += step.stride * (size - 1);
  }
  return out;
}

// An index of n points that is merged into others of range r, m of its own steps, makes their range
// r + m * (n - 1); apart from them it would be r * n. The larger n and r are, the smaller is the
// first as a part of the second. What the index is merged into differs from tile to tile. It is one
// of those whose stride divides the index's own, and whose range, with all that may be merged into
// it before, is not below m.
ScoreBound::Staged ScoreBound::least_staged(const Input& input, const Tile& high) const {
  Staged out;
  reach_.clear();  // by step: the largest range that it can have with what is merged into it
  for (const Step& step : input.steps) {
    const double size = as_double(high[step.index]);
    double least = 1;
    for (const Step::Head& head : step.heads) {
      double& range = reach_[head.step];
      if (range < head.times) continue;
      least = std::min(least, head.times / range);
      range += head.times * (size - 1);
    }
    out.part *= 1 / size + (1 - 1 / size) * least;
    reach_.push_back(size);
  }
  for (size_t s = 0; s < input.steps.size(); ++s) {
    const double stride = input.steps[s].stride;
    out.together =
        std::max(out.together, std::floor(std::min(input.width, stride * reach_[s]) / stride));
  }
  return out;
}

ScoreBound::Moved ScoreBound::least_moved(const Tile& low, const Tile& high) const {
  const double line = as_double(settings_.mem_width);
  Moved out;
  out.written = line * as_double(kernel_.written_tensors);
  double tiles = 1;
  for (size_t i = 0; i < low.size(); ++i) {
    tiles *= count_of(high, i);
    if (!kernel_.writes_apart(i)) continue;
    out.written *= as_double(kernel_.indices[i].range);
    if (magnitude(kernel_.output.strides[i]) == 1)
      out.written /= as_double(std::min(
          std::max<int64_t>(1, settings_.mem_width / byte_size(kernel_.output.type)), high[i]));
  }
  out.bytes = out.written;
  for (const Input& input : inputs_) {
    const auto [part, together] = least_staged(input, high);
    // What is left over of a transaction is not fetched: of n or more of t elements at most t - 1.
    const double whole = std::max(1.0, std::floor(least_elements(input, low) / together));
    double fetched = line * points_ * part * whole / (whole * together + together - 1);
    for (size_t i : input.sums) fetched /= as_double(high[i]);
    double outputs = 1;
    for (size_t i : input.outputs) outputs *= as_double(high[i]);
    out.fetched *= fetched;
    out.bytes += std::max(line * tiles * whole, fetched / outputs);
  }
  return out;
}

double ScoreBound::operator()(const Tile& low, const Tile& high) const {
  double groups = 1, points = 1, lanes = 1;
  double fewest = 1, most = 1, all = 1;  // outputs of a tile, and of all groups with what is beyond
  for (size_t i = 0; i < low.size(); ++i) {
    const double size = as_double(high[i]);
    points *= size;
    if (!kernel_.writes_apart(i)) continue;
    groups *= count_of(low, i);
    lanes *= as_double(power_of_two_above(high[i]));
    fewest *= as_double(low[i]);
    most *= size;
    all *= low[i] == high[i] ? size * count_of(high, i)
                             : as_double(kernel_.indices[i].range) + size - 1;
  }
  const Moved moved = least_moved(low, high);
  const auto roof = [&](double bytes) {
    return part_of_goal(operations_ / bytes * kRounding, settings_.goal_flops_per_byte);
  };
  double out = roof(moved.bytes) * part_of_goal(groups, settings_.goal_groups);
  if (apart_ && !inputs_.empty()) {
    // Tiles of more outputs fetch less, but there are fewer of them. The best size has as many
    // outputs as leave the number of groups that is asked for. The best shape is the one for which
    // all inputs fetch the same, for a sum of n numbers is not below n times the n-th root of their
    // product.
    const double n = as_double(static_cast<int64_t>(inputs_.size())),
                 goal = as_double(settings_.goal_groups),
                 outputs = std::clamp(all / goal, fewest, most), product = moved.fetched / outputs;
    const double mean = n == 2 ? std::sqrt(product) : std::pow(product, 1 / n);
    out = std::min(
        out, roof(moved.written + n * mean) * std::min(1.0, all / (outputs * goal) * kRounding));
  }
  return out * part_of_goal(std::max(points, lanes), settings_.threads);
}

bool ScoreBound::all_larger_are_over(const Tile& tile) const {
  double outputs = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    if (kernel_.writes_apart(i)) outputs *= as_double(tile[i]);
  // Each output of the tile has an accumulator, and each element of an operand has its place.
  if (outputs * as_double(byte_size(kernel_.output.type)) > as_double(settings_.max_regs))
    return true;
  if (settings_.use_global) return false;
  double shared = 0;
  for (const Input& input : inputs_) shared += least_elements(input, tile) * input.bytes;
  return shared > as_double(settings_.max_mem);
}

}  // namespace stria::cost
