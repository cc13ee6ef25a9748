// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/search/tile_space.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"

namespace stria::cost {
namespace {

// The divisors of larger ranges are not looked for: it would take longer than it is worth.
constexpr int64_t kMostDivisions = 1 << 16;

void add_sizes(int64_t range, int64_t factor, std::set<int64_t>& sizes) {
  for (int64_t d = 1; d <= kMostDivisions && d <= range / d; ++d) {
    if (range % d != 0) continue;
    sizes.insert(factor * d);
    sizes.insert(factor * (range / d));
  }
  for (int64_t p = 1; p <= range; p *= 2) {
    sizes.insert(factor * p);
    if (p > range / 2) break;
  }
  for (int64_t k = 1; k <= 8; ++k) sizes.insert(factor * ceil_div(range, k));
}

// What a filter asks, for messages.
std::string to_string(const TileFilter& filter) {
  std::vector<std::string> parts;
  if (filter.only_po2) parts.emplace_back("only_po2");
  if (filter.only_even) parts.emplace_back("only_even");
  if (filter.only_multiple_of > 1)
    parts.push_back(fmt::format("only_multiple_of {}", filter.only_multiple_of));
  return join(parts, ", ");
}

// What is over a limit, before it is put into words.
struct Over {
  enum class What { none, memory, places, bytes, points } what = What::none;
  const char* limit_name = "";
  const TiledView* view = nullptr;  // whose limit it is; null: of all
  double is = 0, limit = 0;
};

Over first_over(const TiledBlock& block, const Tile& tile, const TileLimits& limits, bool least) {
  Over out;
  const auto check = [&](Over::What what, const char* name, double is, int64_t limit,
                         const TiledView* view = nullptr) {
    if (out.what == Over::What::none && limit > 0 && is > static_cast<double>(limit))
      out = {what, name, view, is, static_cast<double>(limit)};
  };
  if (limits.memory) {
    const MemoryUse use = least
                              ? least_memory_use(block, tile, *limits.memory, limits.pipeline_depth)
                              : memory_use(block, tile, *limits.memory, limits.pipeline_depth);
    check(Over::What::memory, "", use.bytes, static_cast<int64_t>(use.capacity));
    check(Over::What::places, "", use.places, use.ways);
  }
  if (limits.max_input_bytes > 0 || limits.max_output_bytes > 0 || limits.max_total_bytes > 0 ||
      limits.max_per_input_bytes > 0 || limits.max_per_output_bytes > 0) {
    double input = 0, output = 0, total = 0;
    for (const TiledView& view : block.views) {
      const double bytes = least ? elements_of(view, tile) * static_cast<double>(view.element_bytes)
                                 : staged_bytes(block, view, tile);
      total += bytes;
      if (view.dir == stripe::RefDir::in) {
        input += bytes;
        check(Over::What::bytes, "max_per_input_bytes", bytes, limits.max_per_input_bytes, &view);
      }
      if (view.dir == stripe::RefDir::out) {
        output += bytes;
        check(Over::What::bytes, "max_per_output_bytes", bytes, limits.max_per_output_bytes, &view);
      }
    }
    check(Over::What::bytes, "max_input_bytes", input, limits.max_input_bytes);
    check(Over::What::bytes, "max_output_bytes", output, limits.max_output_bytes);
    check(Over::What::bytes, "max_total_bytes", total, limits.max_total_bytes);
  }
  check(Over::What::points, "max_points", points_of(tile), limits.max_points);
  if (limits.max_po2_points > 0) {
    double points = 1;
    for (int64_t size : tile) points *= static_cast<double>(power_of_two_above(size));
    check(Over::What::points, "max_po2_points", points, limits.max_po2_points);
  }
  return out;
}

// In words.
OverLimit described(const Over& over, const TileLimits& limits) {
  const std::string shared =
      limits.pipeline_depth == 1 ? "" : fmt::format(" / pipeline_depth {}", limits.pipeline_depth);
  const std::string view = over.view ? fmt::format(" of '{}'", over.view->name) : "";
  switch (over.what) {
    case Over::What::memory:
      return {
          fmt::format("{} ({} bytes{})", limits.memory->name, limits.memory->size_bytes, shared),
          "bytes", over.is, over.limit};
    case Over::What::places:
      return {fmt::format("the fullest set of {} ({} ways{})", limits.memory->name,
                          limits.memory->ways, shared),
              "lines", over.is, over.limit};
    case Over::What::points: return {over.limit_name, "points", over.is, over.limit};
    default: return {over.limit_name + view, "bytes", over.is, over.limit};
  }
}

}  // namespace

Result<TileSpace> tile_space(const TiledBlock& block, const TileFilter& filter) {
  TileSpace out;
  for (const TiledBlock::Index& index : block.indices) {
    const int64_t multiple =
        index.range < filter.only_multiple_of ? 1 : std::max<int64_t>(filter.only_multiple_of, 1);
    std::set<int64_t> sizes;
    add_sizes(index.range / multiple, multiple, sizes);
    if (index.range % multiple == 0) sizes.insert(index.range);
    std::vector<int64_t> kept;
    if (index.range < filter.only_multiple_of || (index.reduction && !filter.cut_reductions)) {
      kept.push_back(index.range);
      sizes.clear();
    }
    for (int64_t size : sizes) {
      if (size > index.range) continue;
      if (filter.only_po2 && power_of_two_above(size) != size) continue;
      if (filter.only_even && index.range % size != 0) continue;
      kept.push_back(size);
    }
    if (kept.empty())
      return invalid_argument("index '{}' of range {} has no size that passes {}", index.name,
                              index.range, to_string(filter));
    out.push_back(std::move(kept));
  }
  return out;
}

std::string OverLimit::to_string() const {
  return fmt::format("{}: {:.0f} {} of {:.0f}, {:.0f} too many", what, is, unit, limit, is - limit);
}

std::optional<OverLimit> over_limit(const TiledBlock& block, const Tile& tile,
                                    const TileLimits& limits) {
  const Over over = first_over(block, tile, limits, false);
  if (over.what != Over::What::none) return described(over, limits);
  if (limits.max_tiles == 0) return {};
  const double tiles = tiles_of(block, tile);
  if (tiles > static_cast<double>(limits.max_tiles))
    return OverLimit{"max_tiles", "tiles", tiles, static_cast<double>(limits.max_tiles)};
  return {};
}

bool keeps_limits(const TiledBlock& block, const Tile& tile, const TileLimits& limits) {
  return first_over(block, tile, limits, false).what == Over::What::none &&
         (limits.max_tiles == 0 || tiles_of(block, tile) <= static_cast<double>(limits.max_tiles));
}

bool all_larger_are_over(const TiledBlock& block, const Tile& tile, const TileLimits& limits) {
  return first_over(block, tile, limits, true).what != Over::What::none;
}

}  // namespace stria::cost
