// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/dram_time.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stria::cost {
namespace {

// Pieces of so many bytes that `bytes` lie in, which begin at a multiple of `step` of a piece: the
// mean over those places.
double mean_pieces(double bytes, int64_t piece, int64_t step) {
  const auto size = static_cast<double>(piece), by = static_cast<double>(step);
  const double whole = std::ceil(bytes / size) - 1, rest = bytes - whole * size;  // in (0, size]
  // Behind these places the rest reaches into another piece.
  const double places = size / by, short_of = std::ceil((size - rest + 1) / by);
  return whole + 1 + std::max(0.0, places - short_of) / places;
}

// Pieces that the walk touches, each once. `together`: how many of them follow each other, and the
// dimensions that do not count in there.
struct Touched {
  double pieces = 0, together = 0;
  size_t next = 0;
};
Touched touched(const Walk& walk, int64_t piece) {
  const std::vector<Walk::Dim>& dims = walk.dims;
  double span = walk.element_bytes;
  size_t d = 0;
  // Gaps shorter than a piece leave no piece of the span out.
  for (; d < dims.size(); ++d) {
    const auto stride = static_cast<double>(dims[d].stride_bytes);
    if (stride >= span + static_cast<double>(piece)) break;
    span += stride * (dims[d].count - 1);
  }
  int64_t step = piece;
  for (size_t outer = d; outer < dims.size(); ++outer)
    step = std::gcd(step, dims[outer].stride_bytes);
  Touched out;
  out.next = d;
  out.pieces = out.together = mean_pieces(span, piece, step);
  for (size_t outer = d; outer < dims.size(); ++outer) out.pieces *= dims[outer].count;
  return out;
}

// How many banks steps of so many bytes go through before they meet one again. Steps of nearly
// whole rows drift by a part of a row each, and may pass the bank where they began.
double banks_of_steps(const DramRows& dram, int64_t bytes) {
  const auto banks = static_cast<double>(dram.banks), row = static_cast<double>(dram.row_bytes);
  const double rows = static_cast<double>(bytes) / row, whole = std::max(1.0, std::round(rows));
  const double cycle =
      banks / static_cast<double>(std::gcd(dram.banks, static_cast<int64_t>(whole)));
  const double meets = std::max(0.0, 1 - cycle * std::abs(rows - whole));
  return 1 / (meets / cycle + (1 - meets) / banks);
}

}  // namespace

Walk walk_of(const stripe::Block& block, const stripe::Refinement& ref) {
  Walk out;
  const int64_t element = byte_size(ref.shape.type);
  out.element_bytes = static_cast<double>(element);
  for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
    auto count = static_cast<double>(ref.shape.dims[d].size);
    for (const stripe::Index& index : block.idxs)
      count += static_cast<double>(std::abs(ref.access[d].coefficient(index.name))) *
               static_cast<double>(index.range - 1);
    if (count > 1) out.dims.push_back({std::abs(ref.shape.dims[d].stride) * element, count});
  }
  std::sort(out.dims.begin(), out.dims.end(),
            [](const Walk::Dim& a, const Walk::Dim& b) { return a.stride_bytes < b.stride_bytes; });
  return out;
}

Walk walk_of_bytes(double bytes) {
  Walk out;
  out.dims.push_back({1, bytes});
  return out;
}

RowWalk row_walk(const DramRows& dram, const Walk& walk) {
  RowWalk out;
  out.bursts = touched(walk, dram.burst_bytes).pieces;
  const Touched rows = touched(walk, dram.row_bytes);
  out.rows = rows.pieces;
  const auto banks = static_cast<double>(dram.banks);
  const bool one_run = rows.next == walk.dims.size();
  out.banks_in_turn = std::min(banks, one_run ? std::ceil(rows.together) : rows.together);
  for (size_t d = rows.next; d < walk.dims.size() && out.banks_in_turn < banks; ++d) {
    const Walk::Dim& dim = walk.dims[d];
    const double different = banks_of_steps(dram, dim.stride_bytes);
    out.banks_in_turn = std::min(banks, out.banks_in_turn * std::min(dim.count, different));
    if (dim.count > different) break;
  }
  return out;
}

double dram_ns(const DramRows& dram, const RowWalk& walk) {
  double out = std::max(walk.bursts * dram.burst_ns, walk.rows * dram.activate_ns);
  if (walk.rows > walk.banks_in_turn)
    out = std::max(out, walk.rows * dram.row_cycle_ns / walk.banks_in_turn);
  return dram.refresh_interval_ns > 0 ? out / (1 - dram.refresh_ns / dram.refresh_interval_ns)
                                      : out;
}

double dram_bytes(const DramRows& dram, const Walk& walk) {
  return dram_ns(dram, row_walk(dram, walk)) * dram.bytes_per_ns();
}

}  // namespace stria::cost
