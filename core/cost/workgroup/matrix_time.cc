// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/matrix_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "stria/cost/workgroup/group_copies.h"

namespace stria::cost {
namespace {

// Elements that a lane loads alone in a step: its loads are written out one by one.
constexpr int64_t kMostSingleElements = 64;
// The largest sides of a tile of a group and of a subgroup, and the longest step.
constexpr int64_t kMostSide = 256, kMostSubgroupSide = 128, kMostDepth = 128;

// Multiples of `unit` up to `most` that divide `whole`. If there are none, because `unit` does not
// divide it: all multiples.
std::vector<int64_t> sizes(int64_t whole, int64_t unit, int64_t most) {
  std::vector<int64_t> out;
  for (int64_t size = unit; size < whole + unit && size <= most; size += unit)
    if (whole % size == 0 || whole % unit != 0) out.push_back(size);
  return out;
}

// Does a bit field of the coordinate say which of `parts` equal parts of `size` has it?
bool tells_apart(int64_t size, int64_t parts) {
  return parts == 1 || std::has_single_bit(static_cast<uint64_t>(size / parts));
}

class TileTime {
 public:
  TileTime(const MatrixProduct& product, const MatrixUnit& unit, const GroupRates& rates)
      : product_(product), unit_(unit), rates_(rates) {}

  // False: it does not fit.
  bool set(MatrixTile& tile) const {
    const double units = rates_.units;
    tile.group_lanes = tile.row_subgroups * tile.column_subgroups * unit_.subgroup_lanes;
    const int64_t left = tile.rows * tile.depth * product_.left_bytes;
    const int64_t right = tile.columns * tile.depth * product_.right_bytes;
    const int64_t gaps = (product_.left_along_depth ? tile.rows : tile.depth) +
                         (product_.right_along_depth ? tile.columns : tile.depth);
    tile.local_bytes =
        static_cast<double>(left + right + gaps * static_cast<int64_t>(rates_.facts.vector_bytes));
    const int64_t rows = tile.rows / tile.row_subgroups;
    const int64_t columns = tile.columns / tile.column_subgroups;
    // A lane holds sums, the operands of one multiplication at a time, and what it fetches.
    const int64_t held =
        (rows * columns * product_.sum_bytes + rows * unit_.depth * product_.left_bytes +
         unit_.columns * unit_.depth * product_.right_bytes) /
            unit_.subgroup_lanes +
        std::max(left + right, held_bytes(tile)) / tile.group_lanes +
        static_cast<int64_t>(rates_.facts.matrix_address_bytes);
    if (single_elements(tile) > kMostSingleElements * tile.group_lanes) return false;
    if (held > rates_.lane_registers || tile.group_lanes > rates_.most_group_lanes) return false;
    if (tile.local_bytes > static_cast<double>(rates_.local_bytes)) return false;
    const auto lanes = static_cast<double>(tile.group_lanes);
    double beside = std::floor(
        std::min(static_cast<double>(rates_.most_lanes) / lanes,
                 static_cast<double>(rates_.registers) / (lanes * static_cast<double>(held))));
    if (rates_.unit_local_bytes > 0)
      beside = std::min(
          beside, std::floor(static_cast<double>(rates_.unit_local_bytes) / tile.local_bytes));
    if (beside < 1) return false;
    tile.groups = static_cast<double>(product_.count) *
                  static_cast<double>(ceil_div(product_.rows, tile.rows)) *
                  static_cast<double>(ceil_div(product_.columns, tile.columns));
    tile.steps = static_cast<double>(product_.passes) *
                 static_cast<double>(ceil_div(product_.depth, tile.depth));
    tile.beside = std::min(beside, std::ceil(tile.groups / units));
    const double at_once = units * tile.beside, rounds = std::floor(tile.groups / at_once);
    const double rest = tile.groups - rounds * at_once;
    tile.step_cycles = step(tile, tile.beside);
    tile.cycles = rounds * group(tile, tile.beside);
    if (rest > 0) tile.cycles += group(tile, std::ceil(rest / units));
    return true;
  }

 private:
  // Of the operands that are staged for a step, and of one of their rows.
  double left_bytes(const MatrixTile& tile) const {
    return static_cast<double>(tile.rows * tile.depth * product_.left_bytes);
  }
  double right_bytes(const MatrixTile& tile) const {
    return static_cast<double>(tile.columns * tile.depth * product_.right_bytes);
  }
  int64_t left_row_bytes(const MatrixTile& tile) const {
    return (product_.left_along_depth ? tile.depth : tile.rows) * product_.left_bytes;
  }
  int64_t right_row_bytes(const MatrixTile& tile) const {
    return (product_.right_along_depth ? tile.depth : tile.columns) * product_.right_bytes;
  }

  // Elements of a step that lanes load alone. Lanes come in powers of two: some pause.
  int64_t single_elements(const MatrixTile& tile) const {
    const auto shared_out = [](int64_t size) {
      return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
    };
    return shared_out(tile.depth) * ((product_.left_in_vectors ? 0 : shared_out(tile.rows)) +
                                     (product_.right_in_vectors ? 0 : shared_out(tile.columns)));
  }

  // What lanes load of a step, and hold: an element alone takes a whole register.
  int64_t held_bytes(const MatrixTile& tile) const {
    const auto bytes = [&](int64_t fetched, bool in_vectors) {
      return in_vectors ? fetched
                        : std::max(fetched, static_cast<int64_t>(rates_.facts.register_bytes));
    };
    return tile.depth *
           (tile.rows * bytes(product_.left_fetched_bytes, product_.left_in_vectors) +
            tile.columns * bytes(product_.right_fetched_bytes, product_.right_in_vectors));
  }

  double fetched_bytes(const MatrixTile& tile) const {
    return static_cast<double>(tile.depth * (tile.rows * product_.left_fetched_bytes +
                                             tile.columns * product_.right_fetched_bytes));
  }

  double computing(const MatrixTile& tile) const {
    const double left = static_cast<double>(product_.left_operations) +
                        (product_.left_in_vectors ? 0 : rates_.facts.copy_element_instructions);
    const double right = static_cast<double>(product_.right_operations) +
                         (product_.right_in_vectors ? 0 : rates_.facts.copy_element_instructions);
    return static_cast<double>(tile.depth) *
           (static_cast<double>(tile.rows) * left + static_cast<double>(tile.columns) * right) /
           rates_.multiply_adds;
  }

  double step(const MatrixTile& tile, double beside) const {
    const auto multiply_adds = static_cast<double>(tile.rows * tile.columns * tile.depth);
    const auto subgroups = static_cast<double>(tile.row_subgroups * tile.column_subgroups);
    const auto multiplying = [&](double groups) {
      const double busy = std::min(1.0, groups * subgroups / rates_.facts.matrix_subgroups);
      return multiply_adds / (unit_.multiply_adds * busy);
    };
    // Each row of subgroups loads all columns, and each column all rows.
    const double loading = in_banks(left_bytes(tile) * static_cast<double>(tile.column_subgroups) +
                                    right_bytes(tile) * static_cast<double>(tile.row_subgroups));
    const double storing = in_banks(left_bytes(tile) * turns(left_row_bytes(tile)) +
                                    right_bytes(tile) * turns(right_row_bytes(tile))) +
                           rates_.facts.matrix_barrier_cycles + computing(tile);
    // Each subgroup issues its fetches one after the other, and multiplies meanwhile.
    const double bytes = fetched_bytes(tile);
    const double waiting = rates_.global_latency + in_banks(bytes) / subgroups;
    const double alone = std::max(waiting, multiplying(1) + loading) + storing;
    const auto [shorter, longer] = std::minmax({multiplying(beside), loading + storing});
    const double together = beside * (longer + rates_.facts.matrix_shown_part * shorter);
    const double fetched = beside * fetching(bytes);
    return (even(tile) ? 1 : rates_.facts.matrix_uneven_factor) *
           std::max({alone, together, fetched});
  }

  double in_banks(double bytes) const {
    return rates_.bank_bytes > 0 ? bytes / static_cast<double>(rates_.bank_bytes) : 0;
  }

  double turns(int64_t row_bytes) const {
    return rates_.bank_bytes > 0 && row_bytes % rates_.bank_bytes != 0
               ? rates_.facts.matrix_short_row_turns
               : 1;
  }

  // Is the number of vectors in each row that is staged a power of two?
  bool even(const MatrixTile& tile) const {
    const auto vector = static_cast<int64_t>(rates_.facts.vector_bytes);
    const auto is_even = [&](int64_t bytes) {
      return bytes % vector == 0 && std::has_single_bit(static_cast<uint64_t>(bytes / vector));
    };
    return is_even(left_row_bytes(tile)) && is_even(right_row_bytes(tile));
  }

  double group(const MatrixTile& tile, double beside) const {
    const auto result = static_cast<double>(tile.rows * tile.columns * product_.sum_bytes);
    const double moving = product_.sum_in_vectors
                              ? 0
                              : static_cast<double>(tile.rows * tile.columns) *
                                    rates_.facts.copy_element_instructions / rates_.multiply_adds;
    return 2 * rates_.global_latency + tile.steps * step(tile, beside) +
           beside * (rates_.facts.matrix_result_factor * fetching(result) + moving);
  }

  double fetching(double bytes) const {
    return rates_.global_bytes > 0 ? bytes / rates_.global_bytes : 0;
  }

  const MatrixProduct& product_;
  const MatrixUnit& unit_;
  const GroupRates& rates_;
};

}  // namespace

std::vector<MatrixTile> matrix_tiles(const MatrixProduct& product, const MatrixUnit& unit,
                                     const GroupRates& rates, size_t most) {
  std::vector<MatrixTile> best;
  if (unit.multiply_adds <= 0) return best;
  const TileTime time(product, unit, rates);
  const auto add = [&](const MatrixTile& tile) {
    const auto at = std::upper_bound(
        best.begin(), best.end(), tile,
        [](const MatrixTile& a, const MatrixTile& b) { return a.cycles < b.cycles; });
    best.insert(at, tile);
    if (best.size() > most) best.pop_back();
  };
  for (const int64_t rows : sizes(product.rows, unit.rows, kMostSide))
    for (const int64_t columns : sizes(product.columns, unit.columns, kMostSide))
      for (const int64_t depth : sizes(product.depth, unit.depth, kMostDepth))
        for (int64_t down = 1; rows % (down * unit.rows) == 0; down *= 2)
          for (int64_t across = 1; columns % (across * unit.columns) == 0; across *= 2) {
            if (rows / down > kMostSubgroupSide || columns / across > kMostSubgroupSide) continue;
            if (!tells_apart(rows, down) || !tells_apart(columns, across)) continue;
            MatrixTile tile;
            tile.rows = rows;
            tile.columns = columns;
            tile.depth = depth;
            tile.row_subgroups = down;
            tile.column_subgroups = across;
            if (time.set(tile)) add(tile);
          }
  return best;
}

std::optional<MatrixTile> shortest_matrix_tile(const MatrixProduct& product, const MatrixUnit& unit,
                                               const GroupRates& rates) {
  const std::vector<MatrixTile> best = matrix_tiles(product, unit, rates, 1);
  return best.empty() ? std::nullopt : std::optional(best[0]);
}

std::string to_string(const MatrixTile& tile) {
  return fmt::format(
      "{} x {} x {} by {} x {} subgroups: {:.0f} cycles, {:.0f} groups of {} lanes, {:.0f} beside "
      "each other, {:.0f} steps of {:.0f} cycles, {:.0f} bytes of local memory",
      tile.rows, tile.columns, tile.depth, tile.row_subgroups, tile.column_subgroups, tile.cycles,
      tile.groups, tile.group_lanes, tile.beside, tile.steps, tile.step_cycles, tile.local_bytes);
}

}  // namespace stria::cost
