// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/core/cache_fill.h"

#include <algorithm>

#include "stria/cost/block/numbers.h"

namespace stria::cost {
namespace {

// The number of pieces of a box that are more than a line apart.
double runs_of(const TiledView& view, const Tile& box, int64_t line_bytes) {
  const auto element = as_double(view.element_bytes), line = as_double(line_bytes);
  double out = 1, reach = element;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, box), step = as_double(dim.stride) * element;
    if (step > reach + line) out *= size;
    reach += step * (size - 1);
  }
  return out;
}

// The innermost of the loops over tiles that has more than one tile.
std::optional<size_t> next_tile(const TiledBlock& block, const RegisterTiling& tiling,
                                const Tile& tile, const TileLoops& loops) {
  for (const auto& [i, range] : loops)
    if (!tiling.summed(i) && tile[i] < block.indices[i].range) return i;
  return std::nullopt;
}

// The boxes that one cache has to do with.
class Boxes {
 public:
  Boxes(const TiledBlock& block, const PackedViews& packed, const CoreRates::Level& cache)
      : block_(block), packed_(packed), cache_(cache) {}

  double bytes(size_t v, const Tile& box) const {
    return in_view(v, box, [&](const TiledView& view, const Tile& own) {
      return lines_of(view, own, cache_.line_bytes) * as_double(cache_.line_bytes);
    });
  }
  // What it costs, as bytes, to begin with each piece of a box.
  double starts(size_t v, const Tile& box) const {
    return in_view(v, box, [&](const TiledView& view, const Tile& own) {
      return cache_.run_lines * as_double(cache_.line_bytes) *
             runs_of(view, own, cache_.line_bytes);
    });
  }
  bool is_read(size_t v) const { return block_.views[v].dir == stripe::RefDir::in; }

  // Does the cache keep what is read? What is written is in registers meanwhile.
  bool keeps(const Tile& box) const {
    double bytes_read = 0, ways = 0;
    for (size_t v = 0; v < block_.views.size(); ++v) {
      if (!is_read(v)) continue;
      bytes_read += bytes(v, box);
      if (cache_.ways > 0)
        ways += in_view(v, box, [&](const TiledView& view, const Tile& own) {
          return places_of(view, own, cache_.line_bytes, cache_.sets);
        });
    }
    return bytes_read <= cache_.bytes && (cache_.ways == 0 || ways <= as_double(cache_.ways));
  }

 private:
  // The view as it lies, and the box in its indices. Searches ask often, so no box is copied.
  template <typename Measure>
  double in_view(size_t v, const Tile& box, const Measure& measure) const {
    return packed_[v] ? measure(packed_[v]->view(), packed_[v]->box(box))
                      : measure(block_.views[v], box);
  }

  const TiledBlock& block_;
  const PackedViews& packed_;
  const CoreRates::Level& cache_;
};

}  // namespace

TileLoops tile_loops(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     std::optional<size_t> along) {
  const auto stride = [&](size_t i) {
    int64_t out = 0;
    for (const TiledView& view : block.views)
      if (view.dir == stripe::RefDir::in)
        for (const TiledDim& dim : view.dims)
          for (const TiledDim::Term& term : dim.terms)
            if (term.index == i) out = std::max(out, dim.stride * term.coefficient);
    return out;
  };
  // Bytes that a step of the index reads anew.
  const auto fresh = [&](size_t i) {
    double out = 0;
    for (const TiledView& view : block.views)
      if (view.dir == stripe::RefDir::in &&
          std::find(view.still.begin(), view.still.end(), i) == view.still.end())
        out += elements_of(view, tile) * as_double(view.element_bytes);
    return out;
  };
  std::vector<size_t> steps, tiles;
  std::vector<std::pair<double, size_t>> by_fresh;
  for (size_t i = 0; i < tile.size(); ++i) {
    if (tiling.summed(i)) {
      steps.push_back(i);
    } else {
      by_fresh.emplace_back(fresh(i), i);
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [&](size_t a, size_t b) { return stride(a) < stride(b); });
  std::stable_sort(by_fresh.begin(), by_fresh.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (along)
    std::stable_partition(by_fresh.begin(), by_fresh.end(),
                          [&](const auto& entry) { return entry.second == *along; });
  TileLoops out;
  for (size_t i : steps) out.emplace_back(i, tile[i]);
  for (const auto& [bytes, i] : by_fresh) out.emplace_back(i, block.indices[i].range);
  for (size_t i : steps)
    if (tile[i] < block.indices[i].range) out.emplace_back(i, block.indices[i].range);
  return out;
}

bool written_decides(const TiledBlock& block, const CoreRates::Level& cache) {
  double read = 0, written = 0;
  for (const TiledView& view : block.views)
    (view.dir == stripe::RefDir::in ? read : written) +=
        elements_of(view, block.ranges()) * as_double(view.element_bytes);
  return written > std::max(read, cache.bytes);
}

std::optional<size_t> along_written(const TiledBlock& block, const RegisterTiling& tiling,
                                    const Tile& tile, const TileLoops& loops) {
  const std::optional<size_t> innermost = next_tile(block, tiling, tile, loops);
  for (const TiledView& view : block.views) {
    if (view.dir == stripe::RefDir::in) continue;
    // Dimensions are by rising stride.
    for (const TiledDim& dim : view.dims)
      for (const TiledDim::Term& term : dim.terms)
        if (!tiling.summed(term.index) && tile[term.index] < block.indices[term.index].range)
          return term.index == innermost ? std::nullopt : std::optional(term.index);
  }
  return std::nullopt;
}

double CacheFill::cycles(const CoreRates::Level& cache) const {
  double bytes = written;
  for (double of_view : read) bytes += of_view;
  return bytes / cache.bytes_per_cycle;
}

CacheFill cache_fill(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     const TileLoops& loops, const PackedViews& packed,
                     const CoreRates::Level& cache) {
  const Boxes boxes(block, packed, cache);
  CacheFill out;
  out.read.resize(block.views.size());
  const Tile all = block.ranges();
  double parts = 1, written = 0, bytes = 0;
  for (size_t i = 0; i < tile.size(); ++i)
    if (tiling.summed(i)) parts *= as_double(ceil_div(all[i], tile[i]));
  for (size_t v = 0; v < block.views.size(); ++v) {
    const double of_view = boxes.bytes(v, all);
    bytes += of_view;
    if (!boxes.is_read(v)) written += of_view;
  }
  if (bytes <= cache.filled_part * cache.bytes && boxes.keeps(all)) return out;
  Tile inside = tile;
  for (size_t i = 0; i < tile.size(); ++i) {
    if (tiling.roles[i] == RegisterRole::steps) inside[i] = 1;
    if (tiling.roles[i] == RegisterRole::lanes && tiling.lanes_are_sums)
      inside[i] = std::min(tiling.lanes, inside[i]);
  }
  size_t depth = 0;
  for (; depth < loops.size() && boxes.keeps(inside); ++depth)
    inside[loops[depth].first] = loops[depth].second;
  double runs = 1;
  for (; depth < loops.size(); ++depth) {
    const auto [index, range] = loops[depth];
    runs *= as_double(range) / as_double(inside[index]);  // the last one is shorter
  }
  out.written = 2 * parts * written;
  // If what is written decides, tiles in a row continue what the one before wrote, and begin
  // nothing anew.
  Tile row = tile;
  if (written_decides(block, cache))
    if (const std::optional<size_t> i = next_tile(block, tiling, tile, loops)) row[*i] = all[*i];
  for (size_t v = 0; v < block.views.size(); ++v)
    if (!boxes.is_read(v) && written > cache.bytes)
      out.written += parts * tiles_of(block, row) * boxes.starts(v, row);
  for (size_t v = 0; v < block.views.size(); ++v)
    if (boxes.is_read(v)) out.read[v] = runs * (boxes.bytes(v, inside) + boxes.starts(v, inside));
  return out;
}

}  // namespace stria::cost
