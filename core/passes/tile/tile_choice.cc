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
#include "stria/passes/tile/tile_costing.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/kernel_alone.h"
#include "stria/rewrite/kernel_memo.h"
#include "stria/rewrite/panel_chain.h"

namespace stria::passes {
namespace {

using cost::ScoredTile;
using cost::Tile;
using cost::TileCost;
using cost::TiledBlock;
using cost::TileSpace;
using stripe::Block;

constexpr double kNone = std::numeric_limits<double>::infinity();

// For each view of the block, the bytes of its tensor: of the refinement that the section has, or
// of an allocation inside the kernel.
std::vector<int64_t> tensor_bytes(const stripe::Program& program, const Block& block) {
  std::vector<int64_t> out;
  const std::vector<const Block*> path = path_to(program, block);
  for (const stripe::Refinement& view : block.refs) {
    if (view.dir == stripe::RefDir::none) continue;
    const stripe::Refinement* ref = &view;
    for (size_t p = path.size(); p > 0 && ref->dir != stripe::RefDir::none; --p) {
      const Block* around = path[p - 1];
      if (around == &block) continue;
      const stripe::Refinement* behind = around->find_ref(ref->from);
      if (!behind) break;
      ref = behind;
      if (around == program.main() || around == program.prologue()) break;
    }
    out.push_back(ref->shape.element_count() * byte_size(ref->shape.type));
  }
  return out;
}

// The block and the elementwise kernels that follow it, as a table of strides.
Result<cost::FlatKernel> table_of(const stripe::Program& program, const Block& block) {
  for (const Block* parent : {program.prologue(), program.main()}) {
    if (!parent) continue;
    for (size_t i = 0; i < parent->stmts.size(); ++i)
      if (parent->stmts[i].block() == &block)
        return cost::flatten(*parent, block, cost::following_kernels(*parent, i));
  }
  return unsupported("block '{}' is no kernel: it is inside of one", block.name);
}

cost::TileLimits limits_of(const TileChoiceOptions& options, const HardwareModel& model) {
  cost::TileLimits limits = options.limits;
  if (!options.memory.empty()) limits.memory = model.find_memory(options.memory);
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
  TileChooser(const Block& block, const TileChoiceOptions& options, PassContext& context,
              const std::optional<RegisterBlock>& registers)
      : block_(block),
        registers_(registers),
        tiled_(cost::tiled_block(block)),
        options_(options),
        context_(context),
        name_(block.name.empty() ? "block" : block.name),
        limits_(limits_of(options, context.model())) {}

  Result<TileChoice> choose(const stripe::Program& program, TileMemo& memo,
                            const ApplyTile& apply) {
    TileMemo::Entry entry = {without_names(tiled_), std::nullopt, std::nullopt, {}, {}, name_, {}};
    if (registers_) entry.tiling = registers_->tiling;
    std::optional<cost::FlatKernel> table;
    if (options_.cost == "roofline_occupancy") {
      Result<cost::FlatKernel> kernel = table_of(program, block_);
      if (!kernel.ok()) {
        entry.choice.refusal = kernel.status().message();
        return entry.choice;
      }
      table = *std::move(kernel);
      entry.kernel = without_names(*table);
    }
    if (options_.cost == "staged_time") {
      entry.tensor_bytes = tensor_bytes(program, block_);
      entry.alike = nameless(block_);
    }
    if (const TileMemo::Entry* known = memo.find(entry)) {
      context_.count("choices_shared");
      if (context_.explaining())
        context_.note(fmt::format("{}: as {}, which differs in names alone", name_, known->name));
      return known->choice;
    }
    STRIA_ASSIGN(entry.choice, search(program, std::move(table), apply));
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
  static cost::FlatKernel without_names(cost::FlatKernel kernel) {
    kernel.output.name.clear();
    for (cost::FlatTensor& input : kernel.inputs) input.name.clear();
    return kernel;
  }

  Result<TileChoice> search(const stripe::Program& program, std::optional<cost::FlatKernel> table,
                            const ApplyTile& apply) {
    TileChoice out;
    if (registers_) {
      costing_ = register_costing(tiled_, *registers_, options_.unit);
    } else if (table) {
      costing_ = occupancy_costing(tiled_, *std::move(table), *context_.model().settings);
    } else if (options_.cost == "group_time") {
      const std::optional<cost::GroupRates> rates = group_rates(context_.model(), options_);
      if (!rates) {
        out.refusal = "the model does not say what a unit of work groups can do";
        return out;
      }
      costing_ = group_costing(tiled_, group_form(options_), *rates);
    } else if (options_.cost == "staged_time") {
      STRIA_ASSIGN(staged_, cost::staged_rates(context_.model(), staged_units(options_)));
      Result<cost::StagedKernel> kernel =
          cost::StagedKernel::make(block_, tensor_bytes(program, block_), staged_);
      if (!kernel.ok()) {
        out.refusal = kernel.status().message();
        return out;
      }
      costing_ = staged_costing(*std::move(kernel), options_.memory);
    } else {
      costing_ = traffic_costing(tiled_, options_.traffic);
    }
    Result<TileSpace> space =
        registers_ ? cost::register_tiles(tiled_, registers_->tiling, registers_->rates)
        : options_.cost == "group_time" ? cost::group_tiles(tiled_, group_form(options_))
                                        : cost::tile_space(tiled_, options_.filter);
    if (space.ok() && options_.cost == "group_time") walk_dimensions_alone(*space);
    std::vector<ScoredTile> best;
    if (space.ok()) best = options_.search == "ascend" ? climb(*space) : look_everywhere(*space);
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

  // Lanes share out what a group sums by its dimensions, so one index of a tile alone may walk
  // along each: the one with the smallest step. Its tiles are equal, since the last one would
  // else reach into what the next value of the others writes.
  void walk_dimensions_alone(TileSpace& space) const {
    for (const std::vector<std::string>& names : shared_dimensions(block_))
      for (size_t i = 0; i < space.size(); ++i) {
        const TiledBlock::Index& index = tiled_.indices[i];
        if (index.name == names.front())
          std::erase_if(space[i], [&](int64_t size) { return index.range % size != 0; });
        else if (std::find(names.begin(), names.end(), index.name) != names.end())
          space[i] = {1};
      }
  }

  size_t kept() const {
    return static_cast<size_t>(std::max<int64_t>(
        {1, options_.measure_top, context_.explaining() ? options_.explain_top : 0}));
  }

  TileChoice choice_of(const Tile& tile) const {
    TileChoice out;
    out.sizes = sizes_of(tile);
    out.panels = costing_->panels(tile);
    costing_->describe(tile, out);
    return out;
  }

  std::map<std::string, int64_t> sizes_of(const Tile& tile) const {
    std::map<std::string, int64_t> out;
    for (size_t i = 0; i < tile.size(); ++i) out[tiled_.indices[i].name] = tile[i];
    return out;
  }

  std::vector<ScoredTile> look_everywhere(const TileSpace& space) {
    TileCost of;
    of.of = [&](const Tile& tile) {
      return cost::keeps_limits(tiled_, tile, limits_) ? costing_->of(tile) : kNone;
    };
    of.bound = [&](const Tile& low, const Tile& high) { return costing_->bound(low, high); };
    of.hopeless = [&](const Tile& tile) {
      return cost::all_larger_are_over(tiled_, tile, limits_) || costing_->hopeless(tile);
    };
    of.last = costing_->last();
    cost::Ranking ranking = cost::exhaustive(space, of, kept());
    looked_at_ = ranking.looked_at;
    return std::move(ranking.best);
  }

  std::vector<ScoredTile> climb(const TileSpace& space) {
    // The walk passes through tiles that are too many, because larger tiles are fewer.
    constexpr double kTooMany = 1e-200;
    cost::TileLimits but_tiles = limits_;
    but_tiles.max_tiles = 0;
    const cost::SearchResult found = cost::ascend(space, [&](const Tile& tile) {
      if (!cost::keeps_limits(tiled_, tile, but_tiles)) return -1.0;
      const double score = costing_->score(tile);
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
    if (costing_->of(smallest) == kNone) {
      if (auto over = costing_->over(smallest))
        return fmt::format("the smallest, {}, is over {}", cost::to_string(tiled_, smallest),
                           over->to_string());
      return fmt::format("the smallest, {}, is {}", cost::to_string(tiled_, smallest),
                         indented(costing_->terms(smallest)));
    }
    // Of the tiles that keep all other limits, the one of which there are the fewest.
    TileCost fewest;
    fewest.of = [&](const Tile& tile) {
      return cost::keeps_limits(tiled_, tile, but_tiles) && costing_->of(tile) < kNone
                 ? cost::tiles_of(tiled_, tile)
                 : kNone;
    };
    fewest.bound = [&](const Tile&, const Tile& high) { return cost::tiles_of(tiled_, high); };
    fewest.hopeless = [&](const Tile& tile) {
      return cost::all_larger_are_over(tiled_, tile, but_tiles) || costing_->hopeless(tile);
    };
    const Tile tile = cost::exhaustive(space, fewest).best.at(0).tile;
    auto over = cost::over_limit(tiled_, tile, limits_);
    return over ? fmt::format("the largest, {}, is over {}", cost::to_string(tiled_, tile),
                              over->to_string())
                : fmt::format("search '{}' met none", options_.search);
  }

  void explain(const std::vector<ScoredTile>& best) {
    context_.note(fmt::format("{}: {} tiles looked at by {}, cost {}", name_, looked_at_,
                              options_.search, options_.cost));
    for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.explain_top); ++i) {
      const Tile& tile = best[i].tile;
      std::string text = fmt::format("{}: {}. {}\n{}", name_, i + 1, cost::to_string(tiled_, tile),
                                     costing_->terms(tile));
      if (!text.ends_with('\n')) text += '\n';
      if (limits_.memory) {
        const cost::MemoryUse use =
            cost::memory_use(tiled_, tile, *limits_.memory, limits_.pipeline_depth);
        text += fmt::format("{}: {:.0f} bytes of {:.0f}", options_.memory, use.bytes, use.capacity);
        if (use.ways > 0) text += fmt::format(", {:.0f} of {} ways", use.places, use.ways);
        text += '\n';
      }
      text += cost::to_string(cost::time_of(tiled_, tile, context_.model(), limits_.memory,
                                            limits_.pipeline_depth, unit()));
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
    for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.measure_top); ++i) {
      // The kernel around the block, with the candidate in the block's place.
      STRIA_ASSIGN(stripe::Program kernel,
                   kernel_alone(program, block_, apply(choice_of(best[i].tile))));
      candidates.push_back({cost::to_string(tiled_, best[i].tile), std::move(kernel)});
    }
    return fastest_candidate(name_, candidates, options_.measure_margin_ns, context_);
  }

  const Block& block_;
  const std::optional<RegisterBlock>& registers_;
  const TiledBlock tiled_;
  const TileChoiceOptions& options_;
  PassContext& context_;
  const std::string name_;
  const cost::TileLimits limits_;
  cost::StagedRates staged_;
  std::unique_ptr<Costing> costing_;
  int64_t looked_at_ = 0;
};

}  // namespace

Result<TileChoice> choose_tile(const stripe::Program& program, const Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply,
                               const std::optional<RegisterBlock>& registers) {
  return TileChooser(block, options, context, registers).choose(program, memo, apply);
}

const TileMemo::Entry* TileMemo::find(const Entry& like) const {
  for (const Entry& entry : entries_)
    if (entry.block == like.block && entry.kernel == like.kernel && entry.tiling == like.tiling &&
        entry.tensor_bytes == like.tensor_bytes && entry.alike == like.alike)
      return &entry;
  return nullptr;
}

}  // namespace stria::passes
