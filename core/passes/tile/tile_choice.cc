// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/tile_choice.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "stria/base/text.h"
#include "stria/cost/block/block_time.h"
#include "stria/cost/search/tile_search.h"
#include "stria/pass/fastest_candidate.h"
#include "stria/rewrite/kernel_alone.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {
namespace {

using cost::ScoredTile;
using cost::SearchCost;
using cost::Tile;
using cost::TiledBlock;
using cost::TileSpace;
using stripe::Block;

constexpr double kNone = std::numeric_limits<double>::infinity();

cost::TileLimits limits_of(const TileChoiceOptions& options, const HardwareModel& model) {
  cost::TileLimits limits = options.limits;
  if (!options.memory.empty() && !options.cost.cost().knows_room())
    limits.memory = model.find_memory(options.memory);
  return limits;
}

// A note is one text; indents its lines below the first one.
std::string indented(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "      ";
  }
  return out;
}

class TileChooser {
 public:
  TileChooser(const Block& block, const TileChoiceOptions& options, PassContext& context)
      : block_(block),
        tiled_(cost::tiled_block(block)),
        options_(options),
        context_(context),
        name_(block.name.empty() ? "block" : block.name),
        limits_(limits_of(options, context.model())),
        memory_(options.memory.empty() ? nullptr : context.model().find_memory(options.memory)) {}

  Result<TileChoice> choose(const stripe::Program& program, TileMemo& memo,
                            const ApplyTile& apply) {
    const cost::TileQuestion question = {program,          block_,          tiled_,
                                         context_.model(), options_.memory, limits_.pipeline_depth};
    cost::TileCost::Answer answer = options_.cost.cost().on(question);
    TileChoice choice;
    choice.refusal = answer.refusal;
    if (!answer.cost) return choice;
    cost_ = std::move(answer.cost);
    TileMemo::Entry entry = {without_names(tiled_), cost_->key(), name_, {}};
    if (const TileMemo::Entry* known = memo.find(entry)) {
      context_.count("choices_shared");
      if (context_.explaining())
        context_.note(fmt::format("{}: as {}, which differs in names alone", name_, known->name));
      return known->choice;
    }
    STRIA_ASSIGN(entry.choice, search(program, apply));
    // A refusal names tensors of its own block, so it is not kept for others.
    if (entry.choice.fits) memo.keep(entry);
    return entry.choice;
  }

 private:
  static TiledBlock without_names(TiledBlock block) {
    block.name.clear();
    for (cost::TiledView& view : block.views) view.name.clear();
    return block;
  }

  Result<TileChoice> search(const stripe::Program& program, const ApplyTile& apply) {
    TileChoice out;
    out.refusal = cost_->start();
    if (out.refusal) return out;
    Result<TileSpace> space = cost_->space();
    std::vector<ScoredTile> best;
    if (space.ok()) best = options_.search == "ascend" ? climb(*space) : look_for_cheapest(*space);
    if (best.empty()) {
      out.fits = false;
      out.refusal =
          "no tile fits: " + (space.ok() ? why_nothing_fits(*space) : space.status().message());
      return out;
    }
    if (context_.explaining()) explain(best);
    size_t chosen = 0;
    if (options_.measure_top > 0) {
      STRIA_ASSIGN(chosen, fastest(program, best, apply));
    }
    return choice_of(best[chosen].tile);
  }

  size_t kept() const {
    return static_cast<size_t>(std::max<int64_t>(
        {1, options_.measure_top, context_.explaining() ? options_.explain_top : 0}));
  }

  TileChoice choice_of(const Tile& tile) const {
    TileChoice out;
    out.sizes = sizes_of(tile);
    out.marks = cost_->marks(tile);
    return out;
  }

  std::map<std::string, int64_t> sizes_of(const Tile& tile) const {
    std::map<std::string, int64_t> out;
    for (size_t i = 0; i < tile.size(); ++i) out[tiled_.indices[i].name] = tile[i];
    return out;
  }

  std::vector<ScoredTile> look_for_cheapest(const TileSpace& space) {
    SearchCost of;
    of.of = [&](const Tile& tile) {
      return cost::keeps_limits(tiled_, tile, limits_) ? cost_->of(tile) : kNone;
    };
    of.bound = [&](const Tile& low, const Tile& high) { return cost_->bound(low, high); };
    of.hopeless = [&](const Tile& tile) {
      return cost::all_larger_are_over(tiled_, tile, limits_) || cost_->hopeless(tile);
    };
    of.last = cost_->last();
    of.gap = static_cast<double>(options_.gap_percent) / 100;
    of.most = options_.max_looked_at;
    cost::Ranking ranking = options_.search == "quick" ? cost::quick(space, of, kept())
                                                       : cost::exhaustive(space, of, kept());
    looked_at_ = ranking.looked_at;
    if (ranking.best.empty()) return {};
    proof_ = {name_, options_.search, ranking.looked_at, ranking.best.front().score, ranking.least};
    context_.searched(proof_);
    return std::move(ranking.best);
  }

  std::vector<ScoredTile> climb(const TileSpace& space) {
    // The walk passes through tiles that are too many, because larger tiles are fewer.
    constexpr double kTooMany = 1e-200;
    cost::TileLimits but_tiles = limits_;
    but_tiles.max_tiles = 0;
    const cost::SearchResult found = cost::ascend(space, [&](const Tile& tile) {
      if (!cost::keeps_limits(tiled_, tile, but_tiles)) return -1.0;
      const double score = cost_->score(tile);
      const bool too_many = !cost::keeps_limits(tiled_, tile, limits_);
      return score > 0 && too_many ? kTooMany / cost::tiles_of(tiled_, tile) : score;
    });
    looked_at_ = static_cast<int64_t>(found.looked_at.size());
    std::vector<ScoredTile> out;
    for (auto tile = found.looked_at.rbegin(); tile != found.looked_at.rend(); ++tile)
      if (tile->score > 0 && cost::keeps_limits(tiled_, tile->tile, limits_)) out.push_back(*tile);
    std::stable_sort(out.begin(), out.end(),
                     [](const ScoredTile& a, const ScoredTile& b) { return a.score > b.score; });
    if (out.size() > kept()) out.resize(kept());
    return out;
  }

  std::string why_nothing_fits(const TileSpace& space) const {
    Tile smallest;
    for (const std::vector<int64_t>& sizes : space) smallest.push_back(sizes.front());
    cost::TileLimits but_tiles = limits_;
    but_tiles.max_tiles = 0;
    if (auto over = cost::over_limit(tiled_, smallest, but_tiles))
      return fmt::format("the smallest, {}, is over {}", cost::to_string(tiled_, smallest),
                         over->to_string());
    if (cost_->of(smallest) == kNone) {
      if (auto over = cost_->over(smallest))
        return fmt::format("the smallest, {}, is over {}", cost::to_string(tiled_, smallest),
                           over->to_string());
      return fmt::format("the smallest, {}, is {}", cost::to_string(tiled_, smallest),
                         indented(cost_->terms(smallest)));
    }
    // Of the tiles that keep all other limits, the one of which there are the fewest.
    SearchCost fewest;
    fewest.of = [&](const Tile& tile) {
      return cost::keeps_limits(tiled_, tile, but_tiles) && cost_->of(tile) < kNone
                 ? cost::tiles_of(tiled_, tile)
                 : kNone;
    };
    fewest.bound = [&](const Tile&, const Tile& high) { return cost::tiles_of(tiled_, high); };
    fewest.hopeless = [&](const Tile& tile) {
      return cost::all_larger_are_over(tiled_, tile, but_tiles) || cost_->hopeless(tile);
    };
    const Tile tile = cost::exhaustive(space, fewest).best.at(0).tile;
    auto over = cost::over_limit(tiled_, tile, limits_);
    return over ? fmt::format("the largest, {}, is over {}", cost::to_string(tiled_, tile),
                              over->to_string())
                : fmt::format("search '{}' met none", options_.search);
  }

  void explain(const std::vector<ScoredTile>& best) {
    std::string text = fmt::format("{}: {} tiles looked at by {}, cost {}", name_, looked_at_,
                                   options_.search, options_.cost.name());
    if (proof_.above() > 0 || options_.gap_percent > 0)
      text += fmt::format("; at most {:.1f}% above the cheapest", 100 * proof_.above());
    context_.note(text);
    for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.explain_top); ++i) {
      const Tile& tile = best[i].tile;
      std::string text = fmt::format("{}: {}. {}\n{}", name_, i + 1, cost::to_string(tiled_, tile),
                                     cost_->terms(tile));
      if (!text.ends_with('\n')) text += '\n';
      if (memory_) {
        const cost::MemoryUse use =
            cost::memory_use(tiled_, tile, *memory_, limits_.pipeline_depth);
        text += fmt::format("{}: {:.0f} bytes of {:.0f}", options_.memory, use.bytes, use.capacity);
        if (use.ways > 0) text += fmt::format(", {:.0f} of {} ways", use.places, use.ways);
        text += '\n';
      }
      text += cost::to_string(
          cost::time_of(tiled_, tile, context_.model(), memory_, limits_.pipeline_depth, unit()));
      context_.note(indented(text));
    }
  }

  // The unit that the block is to run on, if its location says so.
  cost::UnitInUse unit() const {
    if (block_.location.path.empty()) return {};
    const stripe::LocationUnit& last = block_.location.path.back();
    return {context_.model().find_executor(last.name), last.units.empty() ? 0 : 1};
  }

  // The position of the candidate that the device runs in the shortest time. Among candidates whose
  // times differ no more than those of two builds, it is the one of the lowest cost. A candidate
  // that cannot be built or run is left out; if none can, the first failure is returned.
  Result<size_t> fastest(const stripe::Program& program, const std::vector<ScoredTile>& best,
                         const ApplyTile& apply) {
    std::vector<TimedCandidate> candidates;
    std::vector<double> costs;
    for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.measure_top); ++i) {
      // The kernel around the block, with the candidate in the block's place.
      STRIA_ASSIGN(stripe::Program kernel,
                   kernel_alone(program, block_, apply(choice_of(best[i].tile))));
      candidates.push_back({cost::to_string(tiled_, best[i].tile), std::move(kernel)});
      costs.push_back(options_.search == "ascend" ? 1 / best[i].score : best[i].score);
    }
    if (context_.measure()->costs) context_.measure()->costs(costs);
    return fastest_candidate(name_, candidates, options_.measure_margin_ns, context_);
  }

  const Block& block_;
  const TiledBlock tiled_;
  const TileChoiceOptions& options_;
  PassContext& context_;
  const std::string name_;
  const cost::TileLimits limits_;
  const MemoryUnit* memory_;  // null: none is named
  std::unique_ptr<cost::BlockCost> cost_;
  int64_t looked_at_ = 0;
  SearchProof proof_;
};

}  // namespace

void describe_choice(TileChoiceOptions& options, OptionFields& fields) {
  fields.unit(
      "memory", options.memory,
      "memory unit of the model, one instance of which is to hold the tile; \"\" = no limit",
      WhenEmpty::none);
  fields.add("pipeline_depth", options.limits.pipeline_depth, "tiles at once in that memory",
             {1, 1 << 20});
  fields.add("search", options.search,
             "how tiles are searched: the best of all sizes, descents from a few of them, or a "
             "greedy walk over doublings",
             std::vector<std::string>{"exhaustive", "quick", "ascend"});
  fields.add("gap_percent", options.gap_percent,
             "the exhaustive search may end with a tile that costs so much more than the cheapest",
             {0, 100});
  fields.add("max_looked_at", options.max_looked_at,
             "the exhaustive search ends after so many tiles, with the best of them; 0 = never");
  fields.add("max_input_bytes", options.limits.max_input_bytes,
             "limit of a tile: all `in` views together; 0 = none");
  fields.add("max_output_bytes", options.limits.max_output_bytes, "the same, all `out` views");
  fields.add("max_per_input_bytes", options.limits.max_per_input_bytes, "the same, each `in` view");
  fields.add("max_per_output_bytes", options.limits.max_per_output_bytes,
             "the same, each `out` view");
  fields.add("max_total_bytes", options.limits.max_total_bytes, "the same, all views");
  fields.add("max_points", options.limits.max_points, "limit of a tile's points; 0 = none");
  fields.add("max_po2_points", options.limits.max_po2_points,
             "the same, each size rounded up to a power of two");
  fields.add("max_tiles", options.limits.max_tiles, "limit of the number of tiles; 0 = none");
  fields.add("measure_top", options.measure_top,
             "so many of the best candidates are timed on the device, and one that is clearly "
             "faster is preferred to those of lower cost; 0 = none",
             {0, 1000});
  fields.add(
      "measure_margin_ns", options.measure_margin_ns,
      "ns by which it must be faster, besides 2%: two builds of one kernel may differ by this",
      {0, 1000000});
  fields.add("explain_top", options.explain_top, "candidates that `--explain autotile` prints",
             {1, 1000});
  options.cost.describe("cost", "the cost that the best tile has lowest", fields);
}

Status check_choice(const TileChoiceOptions& options, const PassContext& context) {
  const HardwareModel& model = context.model();
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/memory", options.memory));
  if (!options.memory.empty()) {
    const MemoryUnit* memory = model.find_memory(options.memory);
    if (!memory)
      return not_found("/memory: there is no hardware model that has '{}'", options.memory);
    if (memory->size_bytes == 0)
      return invalid_argument("/memory: the hardware model does not say how large '{}' is",
                              options.memory);
  }
  STRIA_RETURN_IF_ERROR(options.cost.cost().check(model, options.memory));
  if (options.measure_top > 0 && !context.measure())
    return unsupported("/measure_top: needs a device that times candidates; there is none here");
  return {};
}

Result<TileChoice> choose_tile(const stripe::Program& program, const stripe::Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply) {
  return TileChooser(block, options, context).choose(program, memo, apply);
}

const TileMemo::Entry* TileMemo::find(const Entry& like) const {
  for (const Entry& entry : entries_)
    if (entry.block == like.block && (like.key ? like.key->equals(*entry.key) : true))
      return &entry;
  return nullptr;
}

}  // namespace stria::passes
