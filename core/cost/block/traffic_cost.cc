// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/traffic_cost.h"

#include <algorithm>
#include <cmath>

#include "stria/base/status.h"

namespace stria::cost {
namespace {

// Elements of a line; 0: elements are counted.
double line_of(const TiledView& view, int64_t cache_width_bytes) {
  return cache_width_bytes > 0
             ? static_cast<double>(std::max<int64_t>(1, cache_width_bytes / view.element_bytes))
             : 0;
}

int64_t small_factors(int64_t n, int64_t bound) {
  int64_t out = 0;
  for (int64_t p = 2; p <= bound && p <= n; ++p)
    for (; n % p == 0; n /= p) ++out;
  return out;
}

double short_of(double value, int64_t goal) {
  return static_cast<double>(goal) / std::min(value, static_cast<double>(goal));
}

// Lines over elements of a view, at least.
double least_density(const TiledView& view, const Tile& low, const Tile& high, double line) {
  if (line == 0) return 1;
  double density = 1, reach = 0, before = 1, elements = 1;
  bool nested = true;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, high), stride = static_cast<double>(dim.stride);
    const double gap = stride - reach;
    nested = nested && (gap >= 1 || size == 1);
    if (gap < line) density -= (1 - gap / line) * (1 - 1 / size) / before;
    before *= extent(dim, low);
    elements *= size;
    reach += stride * (size - 1);
  }
  // There is at least one line. In rows that do not overlap, a line has no more elements than fit.
  density = std::max(density, 1 / elements);
  if (nested) density = std::max(density, 1 / line + (1 - 1 / line) / elements);
  return density;
}

// Of io / points over the box, at least.
double least_io(const TiledView& view, const Tile& low, const Tile& high, int64_t width) {
  return least_density(view, low, high, line_of(view, width)) *
         least_elements_of_point(view, low, high);
}

}  // namespace

double io_of(const TiledView& view, const Tile& tile, int64_t cache_width_bytes) {
  const double line = line_of(view, cache_width_bytes);
  if (line == 0) return elements_of(view, tile);
  double lines = 1, reach = 0;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, tile), gap = static_cast<double>(dim.stride) - reach;
    double all = lines * size;
    if (gap < line) all -= (1 - gap / line) * (size - 1);
    lines = std::max(lines, all);
    reach += static_cast<double>(dim.stride) * (size - 1);
  }
  return lines;
}

TrafficCost traffic_cost(const TiledBlock& block, const Tile& tile,
                         const TrafficSettings& settings) {
  TrafficCost out;
  out.points = points_of(tile);
  out.tiles = tiles_of(block, tile);
  for (const TiledView& view : block.views) {
    if (view.dir == stripe::RefDir::inout) continue;
    (view.writes() ? out.output_io : out.input_io) += io_of(view, tile, settings.cache_width_bytes);
  }
  out.padding = padding_of(block, tile);
  if (settings.border_cost > 0)
    out.border = 1 + settings.border_cost * border_tiles_of(block, tile) / out.tiles;
  out.inefficiency = short_of(out.points, settings.min_points) *
                     short_of(outputs_of(block, tile), settings.min_out_points) *
                     short_of(out.tiles, settings.min_tiles) *
                     short_of(output_tiles_of(block, tile), settings.min_out_tiles) * out.padding *
                     out.border;
  for (size_t i = 0; i < tile.size(); ++i)
    if (!block.indices[i].reduction)
      out.factors += small_factors(tile[i], settings.small_factor_bound);
  const double moved =
      1 + settings.input_cost * out.input_io + settings.output_cost * out.output_io;
  out.cost =
      (out.inefficiency * moved / out.points + settings.split_factor * std::log2(out.tiles)) /
      static_cast<double>(out.factors);
  return out;
}

double traffic_cost_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                          const TrafficSettings& settings) {
  // Rounding, here and in the cost, must never make a bound too high.
  constexpr double kRounding = 1 - 1e-9;
  double moved = 1 / points_of(high);
  for (const TiledView& view : block.views)
    if (view.dir != stripe::RefDir::inout)
      moved += (view.writes() ? settings.output_cost : settings.input_cost) *
               least_io(view, low, high, settings.cache_width_bytes);
  // Searches ask for many bounds: what settings leave out is not computed.
  double inefficiency = 1;
  if (settings.min_points > 1) inefficiency *= short_of(points_of(high), settings.min_points);
  if (settings.min_out_points > 1)
    inefficiency *= short_of(outputs_of(block, high), settings.min_out_points);
  if (settings.min_tiles > 1) inefficiency *= short_of(tiles_of(block, low), settings.min_tiles);
  if (settings.min_out_tiles > 1)
    inefficiency *= short_of(output_tiles_of(block, low), settings.min_out_tiles);
  double factors = 1;
  for (size_t i = 0; i < low.size() && settings.small_factor_bound >= 2; ++i)
    if (!block.indices[i].reduction) factors += std::floor(std::log2(high[i]));
  double padding = 1, tiles = 1;
  for (size_t i = 0; i < low.size(); ++i) {
    const int64_t range = block.indices[i].range;
    const auto count = static_cast<double>(ceil_div(range, high[i]));
    tiles *= count;
    if (low[i] == high[i])
      padding *= count * static_cast<double>(low[i]) / static_cast<double>(range);
  }
  return (inefficiency * padding * moved + settings.split_factor * std::log2(tiles)) / factors *
         kRounding;
}

std::string to_string(const TrafficCost& cost) {
  return fmt::format(
      "cost={:.6g} points={:.0f} tiles={:.0f} input_io={:.6g} output_io={:.6g} inefficiency={:.6g} "
      "padding={:.6g} border={:.6g} factors={}",
      cost.cost, cost.points, cost.tiles, cost.input_io, cost.output_io, cost.inefficiency,
      cost.padding, cost.border, cost.factors);
}

}  // namespace stria::cost
