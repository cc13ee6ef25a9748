// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/memory_use.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stria::cost {
namespace {

bool is_cache(const MemoryUnit& memory) {
  return memory.policy == MemoryPolicy::lru && memory.line_bytes > 0;
}

// Searches ask for many, and most caches repeat after a power of two.
int64_t common_divisor(int64_t a, int64_t b) {
  return (b & (b - 1)) == 0 && a != 0 ? std::min(a & -a, b) : std::gcd(a, b);
}

MemoryUse use_of(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                 int64_t pipeline_depth, bool least) {
  MemoryUse out;
  out.capacity = static_cast<double>(memory.size_bytes / pipeline_depth);
  const bool cache = is_cache(memory);
  if (cache) out.ways = memory.ways / pipeline_depth;
  if (cache && memory.ways > 0) out.ways = std::max<int64_t>(out.ways, 1);
  for (const TiledView& view : block.views) {
    if (!cache) {
      out.bytes += least ? elements_of(view, tile) * static_cast<double>(view.element_bytes)
                         : staged_bytes(block, view, tile);
      continue;
    }
    out.bytes += lines_of(view, tile, memory.line_bytes) * static_cast<double>(memory.line_bytes);
    if (out.ways > 0) out.places += places_of(view, tile, memory.line_bytes, sets_of(memory));
  }
  return out;
}

// The loops of a tiled block: over tiles, then over a tile's points, each in the block's order. How
// much of each index lies inside of the first `depth` loops.
Tile inside_of(const TiledBlock& block, const Tile& tile, size_t depth) {
  const size_t n = tile.size();
  Tile out = block.ranges();
  for (size_t i = 0; i < n; ++i) {
    if (depth > i) out[i] = tile[i];
    if (depth > n + i) out[i] = 1;
  }
  return out;
}

// How often what is inside runs.
double runs_of(const TiledBlock& block, const Tile& tile, size_t depth) {
  const size_t n = tile.size();
  double out = 1;
  for (size_t i = 0; i < n; ++i) {
    if (depth > i) out *= static_cast<double>(ceil_div(block.indices[i].range, tile[i]));
    if (depth > n + i) out *= static_cast<double>(tile[i]);
  }
  return out;
}

}  // namespace

int64_t sets_of(const MemoryUnit& memory) {
  if (memory.ways <= 0 || memory.size_bytes <= 0) return 1;
  return std::max<int64_t>(
      1, memory.size_bytes / std::max<int64_t>(memory.line_bytes, 1) / memory.ways);
}

double lines_of(const TiledView& view, const Tile& tile, int64_t line_bytes,
                double (*extent_of)(const TiledDim&, const Tile&)) {
  const auto line = static_cast<double>(std::max<int64_t>(line_bytes, 1));
  const auto element = static_cast<double>(view.element_bytes);
  double lines = std::ceil(element / line), reach = element;
  for (const TiledDim& dim : view.dims) {
    const double size = extent_of(dim, tile);
    reach += static_cast<double>(dim.stride) * element * (extent(dim, tile) - 1);
    lines = std::min(lines * size, std::ceil(reach / line));
  }
  return lines;
}

double places_of(const TiledView& view, const Tile& tile, int64_t line_bytes, int64_t sets) {
  const auto all = static_cast<double>(sets);
  const int64_t around = line_bytes * sets;  // bytes after which sets come again
  double run = static_cast<double>(view.element_bytes);
  size_t d = 0;
  for (; d < view.dims.size() && view.dims[d].stride * view.element_bytes <= line_bytes; ++d)
    run += static_cast<double>(view.dims[d].stride * view.element_bytes) *
           (extent(view.dims[d], tile) - 1);
  double used = std::ceil(run / static_cast<double>(line_bytes)), places = 1;
  const auto fold = [&] {
    places *= std::max(1.0, std::ceil(used / all));
    used = std::min(used, all);
  };
  fold();
  for (; d < view.dims.size(); ++d) {
    const double size = extent(view.dims[d], tile);
    const auto period = static_cast<double>(
        around / common_divisor(view.dims[d].stride * view.element_bytes, around));
    used *= std::min(size, period);
    places *= std::ceil(size / period);
    fold();
  }
  return places;
}

MemoryUse memory_use(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                     int64_t pipeline_depth) {
  return use_of(block, tile, memory, pipeline_depth, false);
}

MemoryUse least_memory_use(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                           int64_t pipeline_depth) {
  return use_of(block, tile, memory, pipeline_depth, true);
}

Traffic traffic_into(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                     const MemoryUnit* behind) {
  const size_t n = tile.size();
  size_t depth = n;
  if (is_cache(memory)) {
    depth = 0;
    while (depth < 2 * n && !memory_use(block, inside_of(block, tile, depth), memory, 1).fits())
      ++depth;
  }
  const Tile inside = inside_of(block, tile, depth);
  const double runs = runs_of(block, tile, depth);
  // A part of the reduction finds what the part before it has left.
  const double outputs = output_tiles_of(block, inside), first = outputs / tiles_of(block, inside);
  const MemoryUnit& lines = behind && behind->line_bytes > 0 ? *behind : memory;
  Traffic out;
  for (const TiledView& view : block.views) {
    const double bytes = runs * lines_of(view, inside, lines.line_bytes) *
                         static_cast<double>(std::max<int64_t>(lines.line_bytes, 1));
    if (view.dir == stripe::RefDir::in) out.read_bytes += bytes;
    if (!view.writes()) continue;
    out.written_bytes += bytes;
    out.read_bytes += view.dir == stripe::RefDir::inout ? bytes : bytes * (1 - first);
  }
  return out;
}

}  // namespace stria::cost
