// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/group_work.h"

#include <array>

#include "stria/cost/block/memory_use.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/output_rows.h"
#include "stria/cost/workgroup/staged_elements.h"

namespace stria::cost::group {
namespace {

// The number of lanes is a power of two. For other sizes some lanes pause, for up to a quarter of
// the next power of two.
double held_of(int64_t size) {
  const int64_t quarter = std::max<int64_t>(1, power_of_two_above(size) / 4);
  return static_cast<double>(ceil_div(size, quarter) * quarter);
}

double registers_of(double sums, double staged, const GroupFacts& facts) {
  return std::floor(facts.register_bytes * (sums + 2 * std::sqrt(sums) + staged)) +
         facts.other_register_bytes;
}

// Accesses of a lane for a block of so many sums that reads two views, each moved by one side of
// the block. One access brings `first` elements along one side, `second` along the other. The sides
// are those that have the fewest elements, as in sum_lanes.h; among equals, those of vectors that
// lie along the first index.
struct Sides {
  double first = 0, second = 0;
};
constexpr Sides loads_of_sides(double sums, double first, double second) {
  const double pieces = std::max(1.0, sums / (first * second));
  double fewest = kNone;
  Sides out;
  for (double side = 1; side <= pieces; side *= 2) {
    const double elements = first * side + second * pieces / side;
    if (elements >= fewest) break;
    fewest = elements;
    out = {side, pieces / side};
  }
  return out;
}

// The accesses for a pair of views, by how many of them are read in vectors and by sums.
struct Loads {
  template <typename Entry>
  using Table = std::array<std::array<Entry, kMostSums + 1>, 3>;
  Table<Sides> exact = {}, least = {};  // `least`: of so many sums or more, each side for itself
  Table<double> least_of_both = {};
};
constexpr Loads make_loads() {
  Loads out;
  for (size_t vectors = 0; vectors < out.exact.size(); ++vectors) {
    Sides least = {kNone, kNone};
    double least_of_both = kNone;
    for (size_t sums = kMostSums; sums > 0; --sums) {
      // Lanes take vectors along a side only if they hold so many sums.
      const auto held = static_cast<double>(sums);
      const double first = vectors > 0 && held >= kVector ? kVector : 1;
      const double second = vectors > 1 && held >= kVector * kVector ? kVector : 1;
      const Sides loads = loads_of_sides(held, first, second);
      least = {std::min(least.first, loads.first), std::min(least.second, loads.second)};
      least_of_both = std::min(least_of_both, loads.first + loads.second);
      out.exact[vectors][sums] = loads;
      out.least[vectors][sums] = least;
      out.least_of_both[vectors][sums] = least_of_both;
    }
  }
  return out;
}
constexpr Loads kLoads = make_loads();

template <typename Entry>
const Entry& entry(const Loads::Table<Entry>& loads, double sums, const Staged& staged) {
  return loads[static_cast<size_t>(std::min(staged.vectors, 2.0))][static_cast<size_t>(sums)];
}

// What a window moves along lies on the second side: vectors go first, and it has none.
double of_views(const Sides& loads, const Staged& staged) {
  const double outputs = std::isinf(staged.window_outputs)
                             ? staged.window_outputs
                             : std::max(1.0, std::min(loads.second, staged.window_outputs));
  // Of what lanes load without keeping it: 1 - (outputs + points - 1) / (outputs * points).
  const double again = (1 - 1 / staged.window_points) * (1 - 1 / outputs);
  return staged.views / 2 * (loads.first + loads.second * (1 - staged.window_kept * again));
}

bool is_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& tile,
                   const GroupFacts& facts) {
  return rows_of(block, view, facts) == Rows::outputs &&
         tile[*row_index(view, facts)] % static_cast<int64_t>(kVector) == 0;
}

// What one operand takes, in rows of the indices that move along the tile's outputs.
double row_bytes(const TiledBlock& block, const TiledView& view, const Tile& tile,
                 const GroupRates& rates) {
  const auto by_output = [&](size_t d) { return moves_with_outputs(block, view.dims[d], tile); };
  const int64_t elements = lay_out_rows(
      view.dims.size(),
      [&](size_t d) { return static_cast<int64_t>(staged_extent(view.dims[d], tile)); }, by_output,
      {vector_of(view, rates.facts), rates.bank_bytes / view.element_bytes},
      [](size_t, int64_t) {});
  return static_cast<double>(elements) * static_cast<double>(view.element_bytes);
}

bool are_constrained(const TiledBlock& block, size_t a, size_t b) {
  return std::any_of(block.constraints.begin(), block.constraints.end(), [&](const auto& each) {
    const auto names = [&](size_t index) {
      return std::any_of(each.terms.begin(), each.terms.end(),
                         [&](const auto& term) { return term.first == index; });
    };
    return names(a) && names(b);
  });
}

// Visits the dimensions of windows at whose borders groups have conditions: visit(output,
// reduction, share). The first two are indices of the block; share is how many of the groups are at
// a border, at most 1.
template <typename Visit>
void for_each_border(const TiledBlock& block, const Tile& tile, const Visit& visit) {
  if (block.constraints.empty()) return;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    for (const TiledDim& dim : view.dims) {
      if (dim.terms.size() != 2) continue;
      size_t output = dim.terms[0].index, reduction = dim.terms[1].index;
      if (block.indices[output].reduction) std::swap(output, reduction);
      if (block.indices[output].reduction || !block.indices[reduction].reduction ||
          tile[output] == 1 || !are_constrained(block, output, reduction))
        continue;
      const auto groups = static_cast<double>(ceil_div(block.indices[output].range, tile[output]));
      visit(output, reduction, std::min(1.0, 2 / groups));
    }
  }
}

double conditions_at(double share, const GroupFacts& facts) {
  return 1 + (facts.border_factor - 1) * share;
}

// Points of one window are tested once for all outputs of a lane. What further windows leave out is
// tested for each output.
void add_borders(const TiledBlock& block, const Tile& tile, const GroupFacts& facts,
                 Counts& counts) {
  bool bounded = false;
  for_each_border(block, tile, [&](size_t, size_t reduction, double share) {
    counts.barrier_waits = facts.border_barrier_cycles;
    if (tile[reduction] > 1 && !bounded) {
      bounded = true;
      counts.waits += facts.border_wait_cycles * share;
    } else {
      counts.conditions *= conditions_at(share, facts);
    }
  });
}

double in_shared(double bytes, const GroupFacts& facts) {
  return std::ceil(bytes / facts.local_piece_bytes) * facts.local_piece_bytes;
}

}  // namespace

double Counts::of_part(int64_t parts) const {
  return reductions / static_cast<double>(longest) * static_cast<double>(ceil_div(longest, parts));
}

Counts counts_of(const TiledBlock& block, const Tile& tile, const GroupFacts& facts) {
  Counts out;
  for (size_t i = 0; i < tile.size(); ++i) {
    const TiledBlock::Index& index = block.indices[i];
    const auto count = static_cast<double>(ceil_div(index.range, tile[i]));
    (index.reduction ? out.reductions : out.outputs) *= static_cast<double>(tile[i]);
    if (!index.reduction) out.held *= held_of(tile[i]);
    (index.reduction ? out.steps : out.groups) *= count;
    if (index.reduction)
      out.longest = std::max(out.longest, tile[i]);
    else if (tile[i] != power_of_two_above(tile[i]))
      out.waits = facts.parted_wait_cycles;
  }
  add_borders(block, tile, facts, out);
  return out;
}

bool moves_with_outputs(const TiledBlock& block, const TiledDim& dim, const Tile& tile) {
  return std::any_of(dim.terms.begin(), dim.terms.end(), [&](const TiledDim::Term& term) {
    return !block.indices[term.index].reduction && tile[term.index] > 1;
  });
}

double least_conditions(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupFacts& facts) {
  double all = 1, most = 1;
  for_each_border(block, low, [&](size_t, size_t reduction, double share) {
    all *= conditions_at(share, facts);
    if (high[reduction] > 1) most = std::max(most, conditions_at(share, facts));
  });
  return all / most;
}

std::optional<size_t> row_index(const TiledView& view, const GroupFacts& facts) {
  if (view.dims.empty() || view.dims[0].stride != 1) return std::nullopt;
  const int64_t vector = vector_of(view, facts);
  std::optional<size_t> out;
  for (const TiledDim::Term& term : view.dims[0].terms) {
    if (term.coefficient % vector == 0) continue;
    if (term.coefficient != 1 || out) return std::nullopt;
    out = term.index;
  }
  for (size_t d = 1; d < view.dims.size(); ++d)
    if (view.dims[d].stride % vector != 0) return std::nullopt;
  return out;
}

Rows rows_of(const TiledBlock& block, const TiledView& view, const GroupFacts& facts) {
  const std::optional<size_t> along = row_index(view, facts);
  if (!along) return Rows::none;
  return block.indices[*along].reduction ? Rows::reductions : Rows::outputs;
}

namespace {

// May lanes read vectors of it along an output where it is staged?
bool is_read_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  const auto moves = [&](const TiledDim::Term& term) { return tile[term.index] > 1; };
  for (const TiledDim& dim : view.dims)
    for (const TiledDim::Term& term : dim.terms)
      if (moves(term) && !block.indices[term.index].reduction)
        return std::count_if(dim.terms.begin(), dim.terms.end(), moves) == 1 &&
               term.coefficient == staged_step(dim, tile) &&
               tile[term.index] % static_cast<int64_t>(kVector) == 0;
  return false;
}

// The window of the view along which lanes hold outputs in a row, if each output moves it by as
// much as each of its points.
void add_window(const TiledBlock& block, const TiledView& view, const Tile& tile, Staged& staged) {
  for (const TiledDim& dim : view.dims) {
    if (!moves_with_outputs(block, dim, tile)) continue;
    if (dim.terms.size() != 2 || dim.terms[0].coefficient != dim.terms[1].coefficient) return;
    size_t output = dim.terms[0].index, reduction = dim.terms[1].index;
    if (block.indices[output].reduction) std::swap(output, reduction);
    if (!block.indices[reduction].reduction) return;
    const auto outputs = static_cast<double>(tile[output]),
               points = static_cast<double>(tile[reduction]);
    // Of several views with windows the larger one counts.
    if (outputs * points < staged.window_outputs * staged.window_points) return;
    staged.window_outputs = outputs;
    staged.window_points = points;
    return;
  }
}

// Lines of main memory in which the pieces of rows lie.
double lines_of_rows(const TiledView& view, const Tile& tile, const GroupFacts& facts) {
  const auto bytes = static_cast<double>(view.element_bytes);
  double row = 1, pieces = 1;
  bool in_row = true;
  for (const TiledDim& dim : view.dims) {
    // Elements left out between pieces do not part the pieces within a line.
    const int64_t step = staged_step(dim, tile);
    in_row = in_row && static_cast<double>(dim.stride) == row &&
             (step == 1 || static_cast<double>(step) * row * bytes <= facts.line_bytes);
    if (in_row)
      row *= extent(dim, tile);
    else
      pieces *= staged_extent(dim, tile);
  }
  return pieces * std::ceil(row * bytes / facts.line_bytes);
}

// The least number of lines for tiles from `low` to `high`: what may lie in one row does.
double least_lines_of_rows(const TiledView& view, const Tile& low, const Tile& high,
                           const GroupFacts& facts) {
  double longest = 1, row = 1, pieces = 1;
  for (const TiledDim& dim : view.dims) {
    (static_cast<double>(dim.stride) <= longest ? row : pieces) *= staged_extent(dim, low);
    longest *= extent(dim, high);
  }
  return pieces * std::ceil(row * static_cast<double>(view.element_bytes) / facts.line_bytes);
}

}  // namespace

Staged staged_by(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  Staged out;
  out.window_kept = rates.facts.window_kept_part;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const double elements = staged_elements(view, tile);
    out.elements += elements;
    out.vectors += is_read_in_vectors(block, view, tile);
    add_window(block, view, tile, out);
    out.lines += lines_of_rows(view, tile, rates.facts);
    out.local_bytes += in_shared(row_bytes(block, view, tile, rates), rates.facts);
    out.least_bytes += elements * static_cast<double>(view.element_bytes);
    out.views += 1;
  }
  return out;
}

double least_lines(const TiledBlock& block, const Tile& low, const Tile& high,
                   const GroupFacts& facts) {
  double out = 0;
  for (const TiledView& view : block.views)
    if (is_staged(view)) out += least_lines_of_rows(view, low, high, facts);
  return out;
}

double global_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  double out = 0;
  for (const TiledView& view : block.views)
    if (is_staged(view))
      out += lines_of(view, tile, rates.line_bytes, staged_extent) *
             static_cast<double>(rates.line_bytes);
  return out;
}

double loads_of(double sums, const Staged& staged) {
  return of_views(entry(kLoads.exact, sums, staged), staged);
}
double least_loads_of(double sums, const Staged& staged) {
  if (staged.window_points == 1 || staged.window_kept == 0)
    return staged.views / 2 * entry(kLoads.least_of_both, sums, staged);
  return of_views(entry(kLoads.least, sums, staged), staged);
}
double least_loads_of_a_sum(double sums, const Staged& staged) {
  double out = loads_of(sums, staged) / sums;
  if (staged.window_points == 1 || staged.window_kept == 0) return out;
  for (double fewer = 1; fewer < sums; ++fewer)
    out = std::min(out, loads_of(fewer, staged) / fewer);
  return out;
}

Lanes lanes_of(double outputs, double conditions, const Staged& staged, LoadsOf loads,
               int64_t group_lanes, const GroupRates& rates) {
  Lanes out;
  out.lanes = static_cast<double>(group_lanes);
  out.sums = std::ceil(outputs / out.lanes);
  const double registers = registers_of(out.sums, staged.elements / out.lanes, rates.facts);
  if (out.sums > kMostSums || registers > rates.lane_registers) return out;
  out.point =
      (out.sums + rates.facts.local_load_instructions * loads(out.sums, staged)) * conditions;
  out.warps = std::ceil(out.lanes / rates.multiply_adds);
  out.fit = std::min({std::floor(static_cast<double>(rates.registers) /
                                 (out.lanes * static_cast<double>(registers))),
                      std::floor(static_cast<double>(rates.most_lanes) / out.lanes),
                      rates.facts.most_groups_beside});
  return out;
}

double fit_in_local(double fit, double local_bytes, const GroupRates& rates) {
  if (rates.unit_local_bytes == 0 || local_bytes <= 0) return fit;
  return std::min(fit, std::floor(static_cast<double>(rates.unit_local_bytes) / local_bytes));
}

double alone_cycles(const Lanes& of, double reductions, double copying, double waits,
                    const GroupRates& rates) {
  return rates.global_latency + reductions * (rates.local_latency + waits + of.point * of.warps) +
         copying * of.warps;
}
double issue_cycles(const Lanes& of, double reductions, double copying, const GroupRates& rates) {
  return of.lanes * (reductions * of.point + rates.facts.step_instructions + copying) /
         rates.multiply_adds;
}

Fetched fetched_by(const TiledBlock& block, const Tile& tile, double outputs, double sums,
                   const GroupFacts& facts) {
  const bool vectors =
      std::fmod(sums, kVector) == 0 &&
      std::any_of(block.views.begin(), block.views.end(), [&](const TiledView& view) {
        return is_staged(view) && is_in_vectors(block, view, tile, facts);
      });
  const double steps = vectors ? sums / kVector : sums;
  Fetched out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    double still = 1;  // outputs that use the same elements
    for (const size_t i : view.still)
      if (!block.indices[i].reduction) still *= static_cast<double>(tile[i]);
    if (vectors && is_in_vectors(block, view, tile, facts)) {
      const double fetched = std::max(1.0, steps / still);
      const auto row = static_cast<double>(tile[*row_index(view, facts)] * view.element_bytes);
      out.vectors += fetched;
      // Neighbouring lanes use what lies between the vectors of a lane.
      out.looked_up += fetched * std::max(1.0, facts.line_bytes * fetched / row);
    } else {
      out.elements += std::min(steps, outputs / still);
    }
  }
  return out;
}

PartsEnd parts_end(const TiledBlock& block, double outputs, int64_t parts, double apart,
                   const GroupRates& rates) {
  PartsEnd out;
  if (parts == 1) return out;
  double sum_bytes = 0;
  for (const TiledView& view : block.views)
    if (view.writes()) sum_bytes = static_cast<double>(view.sum_bytes);
  for (double left = static_cast<double>(parts); left > 1;
       left = std::ceil(left / rates.facts.parts_at_once)) {
    out.alone += rates.facts.part_round_cycles;
    out.issue += rates.facts.part_sum_instructions * outputs * left / rates.multiply_adds;
    out.bytes += in_shared((outputs * left + apart * (left - 1)) * sum_bytes, rates.facts);
    apart = 0;
  }
  out.bytes += in_shared(outputs * sum_bytes, rates.facts);
  return out;
}

Rounds rounds_of(double groups, double fit, const GroupRates& rates) {
  const double at_once = rates.units * fit, full = std::floor(groups / at_once);
  return {full, std::ceil((groups - full * at_once) / rates.units)};
}

}  // namespace stria::cost::group
