// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/group_work.h"

#include "stria/cost/group_plan.h"
#include "stria/cost/memory_use.h"
#include "stria/cost/output_rows.h"

namespace stria::cost::group {
namespace {

// Of local memory: what lanes share begins at multiples of it.
constexpr double kSharedBytes = 64;
// A unit finds so much of a row of what lanes fetch at a time.
constexpr double kLookedUpBytes = 128;
// Instructions for a part's sum that is stored and added.
constexpr double kSummed = 6;
// Parts' sums that a lane adds up at once.
constexpr double kPartsAtOnce = 16;
// Bytes of registers of a lane besides its sums.
constexpr int64_t kOtherRegisters = 200;

// Lanes are powers of two: of other sizes some pause, for up to a quarter of the next power of two.
double held_of(int64_t size) {
  const int64_t quarter = std::max<int64_t>(1, power_of_two_above(size) / 4);
  return static_cast<double>(ceil_div(size, quarter) * quarter);
}

int64_t registers_of(double sums, double staged) {
  return static_cast<int64_t>(4 * (sums + 2 * std::sqrt(sums) + staged)) + kOtherRegisters;
}

bool is_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  return rows_of(block, view) == Rows::outputs &&
         tile[view.dims[0].terms[0].index] % static_cast<int64_t>(kVector) == 0;
}

// What one operand takes, in rows of what the tile's outputs move along.
double row_bytes(const TiledBlock& block, const TiledView& view, const Tile& tile,
                 const GroupRates& rates) {
  const auto by_output = [&](size_t d) {
    return std::any_of(view.dims[d].terms.begin(), view.dims[d].terms.end(),
                       [&](const auto& term) {
                         return !block.indices[term.index].reduction && tile[term.index] > 1;
                       });
  };
  const int64_t elements = lay_out_rows(
      view.dims.size(),
      [&](size_t d) { return static_cast<int64_t>(extent(view.dims[d], tile)); }, by_output,
      {std::max<int64_t>(1, kVectorBytes / view.element_bytes),
       rates.bank_bytes / view.element_bytes},
      [](size_t, int64_t) {});
  return static_cast<double>(elements) * static_cast<double>(view.element_bytes);
}

double in_shared(double bytes) { return std::ceil(bytes / kSharedBytes) * kSharedBytes; }

}  // namespace

double Counts::of_part(int64_t parts) const {
  return reductions / static_cast<double>(longest) * static_cast<double>(ceil_div(longest, parts));
}

Counts counts_of(const TiledBlock& block, const Tile& tile) {
  Counts out;
  for (size_t i = 0; i < tile.size(); ++i) {
    const TiledBlock::Index& index = block.indices[i];
    const auto count = static_cast<double>(ceil_div(index.range, tile[i]));
    (index.reduction ? out.reductions : out.outputs) *= static_cast<double>(tile[i]);
    if (!index.reduction) out.held *= held_of(tile[i]);
    (index.reduction ? out.steps : out.groups) *= count;
    if (index.reduction) out.longest = std::max(out.longest, tile[i]);
  }
  return out;
}

Rows rows_of(const TiledBlock& block, const TiledView& view) {
  if (view.dims.empty() || view.dims[0].stride != 1 || view.dims[0].terms.size() != 1)
    return Rows::none;
  const TiledDim::Term& term = view.dims[0].terms[0];
  if (term.coefficient != 1) return Rows::none;
  for (size_t d = 1; d < view.dims.size(); ++d)
    if (view.dims[d].stride % static_cast<int64_t>(kVector) != 0) return Rows::none;
  return block.indices[term.index].reduction ? Rows::reductions : Rows::outputs;
}
double accesses_of_element(const TiledBlock& block, const TiledView& view, const Tile* tile) {
  const Rows rows = rows_of(block, view);
  if (rows == Rows::none ||
      (tile && (*tile)[view.dims[0].terms[0].index] % static_cast<int64_t>(kVector) != 0))
    return 1;
  return rows == Rows::outputs ? 1 / kVector : (1 / kVector + 1) / 2;
}

Staged staged_by(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  Staged out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const double elements = elements_of(view, tile);
    out.elements += elements;
    out.accesses += elements * accesses_of_element(block, view, &tile);
    out.local_bytes += in_shared(row_bytes(block, view, tile, rates));
    out.least_bytes += elements * static_cast<double>(view.element_bytes);
    out.views += 1;
  }
  return out;
}

double far_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  double out = 0;
  for (const TiledView& view : block.views)
    if (is_staged(view))
      out += lines_of(view, tile, rates.line_bytes) * static_cast<double>(rates.line_bytes);
  return out;
}

Lanes lanes_of(double outputs, const Staged& staged, int64_t threads, const GroupRates& rates) {
  Lanes out;
  out.lanes = static_cast<double>(threads);
  out.sums = std::ceil(outputs / out.lanes);
  const int64_t registers = registers_of(out.sums, staged.elements / out.lanes);
  if (out.sums > kMostSums || registers > rates.lane_registers) return out;
  // Each of the views read has its side of the square that a lane's sums are.
  out.loads = staged.views * std::max(1.0, std::sqrt(out.sums) / kVector);
  out.warps = std::ceil(out.lanes / rates.multiply_adds);
  out.fit =
      std::min({std::floor(static_cast<double>(rates.registers) /
                           (out.lanes * static_cast<double>(registers))),
                std::floor(static_cast<double>(rates.most_lanes) / out.lanes), kMostGroupsBeside});
  return out;
}

double alone_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return rates.far_latency +
         reductions * (rates.local_latency + (of.sums + kLoad * of.loads) * of.warps) +
         kStaged * staged / of.lanes * of.warps;
}
double issue_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return (of.lanes * (reductions * (of.sums + kLoad * of.loads) + kStep) + kStaged * staged) /
         rates.multiply_adds;
}

Fetched fetched_by(const TiledBlock& block, const Tile& tile, double outputs, double sums) {
  const bool vectors =
      std::fmod(sums, kVector) == 0 &&
      std::any_of(block.views.begin(), block.views.end(), [&](const TiledView& view) {
        return is_staged(view) && is_in_vectors(block, view, tile);
      });
  const double steps = vectors ? sums / kVector : sums;
  Fetched out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    double still = 1;  // outputs that use the same of its elements
    for (const size_t i : view.still)
      if (!block.indices[i].reduction) still *= static_cast<double>(tile[i]);
    if (vectors && is_in_vectors(block, view, tile)) {
      const double fetched = std::max(1.0, steps / still);
      const auto row = static_cast<double>(tile[view.dims[0].terms[0].index] * view.element_bytes);
      out.vectors += fetched;
      // What lies between a lane's vectors is its neighbours'.
      out.looked_up += fetched * std::max(1.0, kLookedUpBytes * fetched / row);
    } else {
      out.elements += std::min(steps, outputs / still);
    }
  }
  return out;
}

PartsEnd parts_end(const TiledBlock& block, double outputs, int64_t parts,
                   const GroupRates& rates) {
  PartsEnd out;
  if (parts == 1) return out;
  double sum_bytes = 4;
  for (const TiledView& view : block.views)
    if (view.writes()) sum_bytes = static_cast<double>(view.sum_bytes);
  for (double left = static_cast<double>(parts); left > 1; left = std::ceil(left / kPartsAtOnce)) {
    out.alone += kStep + rates.local_latency;
    out.issue += kSummed * outputs * left / rates.multiply_adds;
    out.bytes += in_shared(outputs * left * sum_bytes);
  }
  out.bytes += in_shared(outputs * sum_bytes);
  return out;
}

Rounds rounds_of(double groups, double fit, const GroupRates& rates) {
  const double at_once = rates.units * fit, full = std::floor(groups / at_once);
  return {full, std::ceil((groups - full * at_once) / rates.units)};
}

}  // namespace stria::cost::group
