// SPDX-License-Identifier: Apache-2.0
// The bound of `group_time` over a box of tiles.
#include "stria/cost/block/memory_use.h"
#include "stria/cost/workgroup/group_copies.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/group_work.h"
#include "stria/cost/workgroup/staged_elements.h"

namespace stria::cost {
namespace {

using namespace group;

// Does each dimension step over all that those before it reach?
bool rows_lie_apart(const TiledView& view, const Tile& tile) {
  double reach = 1;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, tile), stride = static_cast<double>(dim.stride);
    if (size > 1 && stride < reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

// May lanes of some tile of the box read vectors of the view along an output, once it is staged?
// Not if the first dimension that moves with an output moves with several indices, or by less than
// a vector.
bool may_be_read_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& low,
                            const Tile& high) {
  for (const TiledDim& dim : view.dims) {
    int64_t most = 1;  // outputs of a tile along it
    bool moves = false;
    for (const TiledDim::Term& term : dim.terms) {
      if (block.indices[term.index].reduction) continue;
      most = std::max(most, high[term.index]);
      moves = moves || low[term.index] > 1;
    }
    const bool too_few = most < static_cast<int64_t>(kVector);
    if (too_few && !moves) continue;
    const auto indices = std::count_if(dim.terms.begin(), dim.terms.end(),
                                       [&](const auto& term) { return low[term.index] > 1; });
    return !too_few && (!moves || indices == 1);
  }
  return false;
}

// The most points of a window along which lanes of some tile of the box may hold outputs in a row.
double most_window_points(const TiledBlock& block, const TiledView& view, const Tile& high) {
  int64_t out = 1;
  for (const TiledDim& dim : view.dims)
    if (dim.terms.size() == 2 && dim.terms[0].coefficient == dim.terms[1].coefficient)
      for (const TiledDim::Term& term : dim.terms)
        if (block.indices[term.index].reduction) out = std::max(out, high[term.index]);
  return static_cast<double>(out);
}

// Not above the time of any tile of a box.
class Bound {
 public:
  Bound(const TiledBlock& block, const Tile& low, const Tile& high, const GroupForm& form,
        const GroupRates& rates)
      : block_(block),
        form_(form),
        rates_(rates),
        least_(counts_of(block, low, rates.facts)),
        most_(counts_of(block, high, rates.facts)),
        few_staged_(staged_by(block, low, rates)),
        conditions_(least_conditions(block, low, high, rates.facts)) {
    few_staged_.vectors = 0;
    few_staged_.window_points = 1;
    few_staged_.window_outputs = kNone;  // as if each element of a window were read once
    for (const TiledView& view : block.views) {
      if (!is_staged(view)) continue;
      few_staged_.vectors += may_be_read_in_vectors(block, view, low, high);
      few_staged_.window_points =
          std::max(few_staged_.window_points, most_window_points(block, view, high));
    }
    stages_ = few_staged_.least_bytes * static_cast<double>(form.depth) <=
              static_cast<double>(rates.local_bytes);
    for (size_t i = 0; i < low.size(); ++i)
      stages_ = stages_ && (!block.indices[i].reduction || low[i] <= kMostSteps);
    // For all steps of all groups, on one unit: multiply-adds, instructions that copy, and cycles
    // for their bytes. A tile's share of them grows at least as fast as its points.
    for (const TiledBlock::Index& index : block.indices)
      points_ *= static_cast<double>(index.range);
    points_ /= rates.units;
    for (const TiledView& view : block.views) {
      if (!is_staged(view)) continue;
      fetches_ += rows_of(block, view, rates_.facts) == Rows::outputs
                      ? std::min(rates_.facts.uncached_vector_instructions,
                                 rates_.facts.uncached_element_instructions)
                      : rates_.facts.uncached_element_instructions;
      const double elements = points_ * least_staged_of_point(view, low, high);
      const double copying = least_copying(block, view, low, rates.facts);
      copied_ += elements * copying;
      few_copied_ += staged_elements(view, low) * copying;
      const double bytes = elements * static_cast<double>(view.element_bytes);
      if (rows_lie_apart(view, high)) bytes_ += bytes;
      looking_up_ += rates_.facts.line_cycles * bytes / rates_.facts.line_bytes;
    }
    bytes_ = rates.global_bytes > 0 ? bytes_ / rates.global_bytes : 0;
    least_bytes_ =
        rates.global_bytes > 0 ? global_bytes_of(block, low, rates) / rates.global_bytes : 0;
    fetching_ = rates_.facts.piece_factor * least_bytes_ +
                rates_.facts.line_cycles * least_lines(block, low, high, rates.facts);
    groups_ = std::ceil(most_.groups / rates.units);
  }

  double run() const {
    // Rounding, here and in the time, must never make a bound too high.
    constexpr double kRounding = 1 - 1e-9;
    double out = kNone;
    for (int64_t group_lanes = fewest_group_lanes(rates_.facts);
         group_lanes <= rates_.most_group_lanes; group_lanes *= 2) {
      if (stages_)
        for_each_parts(least_.held, most_.longest, group_lanes, form_.parts, kMostSumsOfParts,
                       [&](int64_t parts) { out = std::min(out, staged(group_lanes, parts)); });
      if (may_be_direct(block_, form_))
        for_each_parts(least_.held, most_.longest, group_lanes, form_.parts, kMostDirectSums,
                       [&](int64_t parts) { out = std::min(out, direct(group_lanes, parts)); });
    }
    return out * kRounding;
  }

 private:
  double staged(int64_t group_lanes, int64_t parts) const {
    const auto shares = static_cast<double>(parts);
    const Lanes few = lanes_of(least_.held * shares, conditions_, few_staged_, least_loads_of,
                               group_lanes, rates_);
    const double fit =
        fit_in_local(few.fit, few_staged_.least_bytes * static_cast<double>(form_.depth), rates_);
    if (fit < 1) return kNone;
    // Points of a lane's part in a step. If the parts do not divide them, one part has more.
    const double fewest = least_.reductions / shares,
                 most = std::min(most_.reductions,
                                 parts > 1 ? 2 * most_.reductions / shares : most_.reductions);
    const double sums = std::min(std::ceil(most_.held * shares / few.lanes),
                                 static_cast<double>(parts > 1 ? kMostSumsOfParts : kMostSums));
    const double steps = most_.steps;
    // Rounds of `fit` groups: each takes what one group takes alone, and `issue` for each
    // further group.
    const double rounds = std::ceil(groups_ / fit);
    const double copying = few_copied_ / few.lanes;
    const double alone = alone_cycles(few, fewest, copying, 0, rates_),
                 issue = issue_cycles(few, fewest, copying, rates_);
    double cycles = steps * std::max({rounds * alone + (groups_ - rounds) * std::min(alone, issue),
                                      groups_ * fetching_});
    // The same, as work for all points, which tiles cut into parts, and what a round takes besides.
    const double loads =
        rates_.facts.local_load_instructions * least_loads_of_a_sum(sums, few_staged_);
    const double work = (points_ * (1 + loads) * conditions_ + copied_ +
                         rates_.facts.step_instructions *
                             std::max(points_ / (sums * most), few.lanes * groups_ * steps)) /
                        rates_.multiply_adds;
    const double of_point = rates_.local_latency;
    const double of_step =
        rates_.global_latency - few.lanes * rates_.facts.step_instructions / rates_.multiply_adds;
    const double more = of_step + of_point * fewest;
    if (more >= 0) {
      double latency = rounds * steps * more;
      if (of_step >= 0)
        latency = std::max(latency, points_ / (most_.outputs * fit) *
                                        (of_point / shares + of_step / most_.reductions));
      cycles = std::max(cycles, work + latency);
    }
    cycles = std::max(cycles, rates_.facts.piece_factor * bytes_ + looking_up_);
    if (parts == 1) return cycles;
    const Rounds all = rounds_of(most_.groups, fit, rates_);
    const PartsEnd end = parts_end(block_, least_.outputs, parts, 0, rates_);
    return cycles + (all.full + (all.rest > 0 ? 1 : 0)) * end.alone;
  }

  double direct(int64_t group_lanes, int64_t parts) const {
    const auto lanes = static_cast<double>(group_lanes), shares = static_cast<double>(parts);
    const double sums = std::min(std::ceil(most_.held * shares / lanes), kMostDirectSums);
    if (least_.reductions / shares > kMostAhead ||
        std::ceil(least_.held * shares / lanes) > kMostDirectSums)
      return kNone;
    const double fit = std::min(rates_.facts.most_groups_beside,
                                std::floor(static_cast<double>(rates_.most_lanes) / lanes));
    if (fit < 1) return kNone;
    const double work = points_ * (1 + fetches_ / sums) / rates_.multiply_adds;
    const Rounds rounds = rounds_of(most_.groups, fit, rates_);
    const double wait = few_staged_.views > 0 ? rates_.global_latency : 0;
    const double latency = (rounds.full + (rounds.rest > 0 ? 1 : 0)) *
                           (most_.steps * (wait + least_bytes_) + rates_.global_latency);
    return std::max({work, bytes_, most_.steps * groups_ * least_bytes_, latency});
  }

  const TiledBlock& block_;
  const GroupForm& form_;
  const GroupRates& rates_;
  const Counts least_, most_;
  Staged few_staged_;
  const double conditions_;
  bool stages_ = true;
  double points_ = 1, copied_ = 0, bytes_ = 0, few_copied_ = 0;  // of one unit
  // Instructions of a lane that fetches for itself: at least an access of each view for all of its
  // sums, or of a vector if there may be vectors.
  double fetches_ = 0;
  double looking_up_ = 0;                  // cycles of one unit for all lines that groups stage
  double least_bytes_ = 0, fetching_ = 0;  // cycles of a group's step
  double groups_ = 0;                      // of one unit
};

}  // namespace

double group_time_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupForm& form, const GroupRates& rates) {
  return Bound(block, low, high, form, rates).run();
}

}  // namespace stria::cost
