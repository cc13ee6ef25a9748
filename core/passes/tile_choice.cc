// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile_choice.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "stria/base/text.h"
#include "stria/cost/block_time.h"
#include "stria/cost/roofline_occupancy.h"
#include "stria/cost/score_bound.h"
#include "stria/cost/staged_time.h"
#include "stria/cost/tile_search.h"
#include "stria/cost/traffic_cost.h"
#include "stria/pass/measure.h"
#include "stria/passes/kernel_alone.h"
#include "stria/passes/kernel_memo.h"
#include "stria/passes/located_unit.h"
#include "stria/passes/panel_chain.h"

namespace stria::passes {
namespace {

using cost::ScoredTile;
using cost::Tile;
using cost::TileCost;
using cost::TiledBlock;
using cost::TileSpace;
using stripe::Block;

constexpr double kNone = std::numeric_limits<double>::infinity();
// Times of the same kernel differ by a percent or two from one minute to the next.
constexpr double kClearlyFaster = 0.98;

// One of the two costs, for one block: lower is better.
class Costing {
 public:
  virtual ~Costing() = default;
  // Infinite: the tile does not fit.
  virtual double of(const Tile& tile) const = 0;
  virtual double bound(const Tile& low, const Tile& high) const = 0;
  virtual bool hopeless(const Tile& tile) const = 0;
  // TileCost::last.
  virtual std::vector<size_t> last() const { return {}; }
  // What `ascend` climbs; over 0 where the tile fits.
  virtual double score(const Tile& tile) const = 0;
  virtual std::string terms(const Tile& tile) const = 0;
  // Of a tile whose cost is infinite: the limit that it is over, where the cost can tell.
  virtual std::optional<cost::OverLimit> over(const Tile&) const { return std::nullopt; }
  virtual std::vector<size_t> panels(const Tile&) const { return {}; }
  // What the choice says besides sizes and panels.
  virtual void describe(const Tile&, TileChoice&) const {}
};

class TrafficCosting final : public Costing {
 public:
  TrafficCosting(const TiledBlock& block, const TileChoiceOptions& options)
      : block_(block),
        settings_{.input_cost = options.input_cost,
                  .output_cost = options.output_cost,
                  .split_factor = options.split_factor,
                  .small_factor_bound = options.small_factor_bound,
                  .cache_width_bytes = options.cache_width_bytes,
                  .min_points = options.min_points,
                  .min_out_points = options.min_out_points,
                  .min_tiles = options.min_tiles,
                  .min_out_tiles = options.min_out_tiles,
                  .border_cost = options.border_cost} {}
  double of(const Tile& tile) const override {
    return cost::traffic_cost(block_, tile, settings_).cost;
  }
  double bound(const Tile& low, const Tile& high) const override {
    return cost::traffic_cost_bound(block_, low, high, settings_);
  }
  bool hopeless(const Tile&) const override { return false; }
  double score(const Tile& tile) const override { return 1 / of(tile); }
  std::string terms(const Tile& tile) const override {
    return cost::to_string(cost::traffic_cost(block_, tile, settings_)) +
           fmt::format(" border_tiles={:.0f}", cost::border_tiles_of(block_, tile));
  }

 private:
  const TiledBlock& block_;
  const cost::TrafficSettings settings_;
};

// The table has its indices by name, tiles have them in the block's order.
class GroupCosting final : public Costing {
 public:
  GroupCosting(const TiledBlock& block, cost::FlatKernel kernel, const GroupSettings& settings)
      : kernel_(std::move(kernel)), settings_(settings), bound_(kernel_, settings) {
    for (const cost::FlatKernel::Index& index : kernel_.indices)
      for (size_t i = 0; i < block.indices.size(); ++i)
        if (block.indices[i].name == index.name) order_.push_back(i);
  }
  double of(const Tile& tile) const override {
    const cost::GroupScore score = cost::score_of(kernel_, in_order(tile, low_), settings_);
    return score.fits() ? -score.score : kNone;
  }
  double bound(const Tile& low, const Tile& high) const override {
    return -bound_(in_order(low, low_), in_order(high, high_));
  }
  bool hopeless(const Tile& tile) const override {
    return bound_.all_larger_are_over(in_order(tile, low_));
  }
  // Tiles that differ in the reduction alone mostly fetch as much.
  std::vector<size_t> last() const override {
    std::vector<size_t> out;
    for (size_t i = 0; i < order_.size(); ++i)
      if (!kernel_.writes_apart(i)) out.push_back(order_[i]);
    return out;
  }
  double score(const Tile& tile) const override {
    return cost::score_of(kernel_, in_order(tile, low_), settings_).score;
  }
  std::string terms(const Tile& tile) const override {
    return cost::to_string(cost::score_of(kernel_, in_order(tile, low_), settings_), settings_);
  }
  std::optional<cost::OverLimit> over(const Tile& tile) const override {
    const cost::GroupScore score = cost::score_of(kernel_, in_order(tile, low_), settings_);
    if (score.verdict == cost::GroupScore::Verdict::over_memory)
      return over_bytes("the model's settings.max_mem", score.shared_bytes, settings_.max_mem);
    if (score.verdict == cost::GroupScore::Verdict::over_registers)
      return over_bytes("the model's settings.max_regs", score.register_bytes, settings_.max_regs);
    return std::nullopt;
  }

 private:
  static cost::OverLimit over_bytes(const char* what, int64_t is, int64_t limit) {
    return {what, "bytes", static_cast<double>(is), static_cast<double>(limit)};
  }
  const Tile& in_order(const Tile& tile, Tile& out) const {
    out.clear();
    for (size_t i : order_) out.push_back(tile[i]);
    return out;
  }

  const cost::FlatKernel kernel_;
  const GroupSettings& settings_;
  const cost::ScoreBound bound_;
  std::vector<size_t> order_;
  mutable Tile low_, high_;  // in the table's order; memory is taken once
};

class RegisterCosting final : public Costing {
 public:
  RegisterCosting(const TiledBlock& block, const RegisterBlock& registers, const std::string& unit)
      : block_(block), tiling_(registers.tiling), rates_(registers.rates), unit_(unit) {}
  double of(const Tile& tile) const override { return time(tile).cycles; }
  // Spaces are small: all that fit are looked at.
  double bound(const Tile&, const Tile&) const override { return 0; }
  bool hopeless(const Tile& tile) const override {
    return cost::all_larger_are_over(block_, tiling_, tile, rates_);
  }
  double score(const Tile& tile) const override { return 1 / of(tile); }
  std::string terms(const Tile& tile) const override { return cost::to_string(time(tile), rates_); }
  std::optional<cost::OverLimit> over(const Tile& tile) const override {
    return cost::OverLimit{"the vector registers of " + unit_, "vectors", time(tile).registers,
                           static_cast<double>(rates_.registers)};
  }
  std::vector<size_t> panels(const Tile& tile) const override { return time(tile).panels; }

 private:
  cost::RegisterTime time(const Tile& tile) const {
    return cost::register_time(block_, tiling_, tile, rates_);
  }

  const TiledBlock& block_;
  const cost::RegisterTiling& tiling_;
  const cost::CoreRates& rates_;
  const std::string& unit_;
};

class GroupTimeCosting final : public Costing {
 public:
  GroupTimeCosting(const TiledBlock& block, const cost::GroupForm& form,
                   const cost::GroupRates& rates)
      : block_(block), form_(form), rates_(rates) {}
  double of(const Tile& tile) const override { return time(tile).cycles; }
  double bound(const Tile& low, const Tile& high) const override {
    return cost::group_time_bound(block_, low, high, form_, rates_);
  }
  bool hopeless(const Tile& tile) const override {
    return cost::all_larger_are_over(block_, tile, form_, rates_);
  }
  double score(const Tile& tile) const override { return 1 / of(tile); }
  std::string terms(const Tile& tile) const override { return cost::to_string(time(tile)); }
  std::optional<cost::OverLimit> over(const Tile& tile) const override {
    const double bytes = time(tile).local_bytes;
    const auto limit = static_cast<double>(rates_.local_bytes);
    if (bytes <= limit) return std::nullopt;
    return cost::OverLimit{"the local memory of a group", "bytes", bytes, limit};
  }
  void describe(const Tile& tile, TileChoice& choice) const override {
    const cost::GroupTime of = time(tile);
    choice.threads = of.threads;
    if (form_.parts) choice.parts = of.parts;
    choice.direct = of.direct;
  }

 private:
  cost::GroupTime time(const Tile& tile) const {
    return cost::group_time(block_, tile, form_, rates_);
  }

  const TiledBlock& block_;
  const cost::GroupForm form_;
  const cost::GroupRates rates_;
};

class StagedCosting final : public Costing {
 public:
  StagedCosting(cost::StagedKernel kernel, const std::string& memory)
      : kernel_(std::move(kernel)), memory_(memory) {}
  double of(const Tile& tile) const override { return kernel_.time(tile).cost; }
  double bound(const Tile& low, const Tile& high) const override {
    return kernel_.bound(low, high);
  }
  // A larger tile takes more room.
  bool hopeless(const Tile& tile) const override { return of(tile) == kNone; }
  double score(const Tile& tile) const override { return 1 / of(tile); }
  std::string terms(const Tile& tile) const override { return cost::to_string(kernel_.time(tile)); }
  std::optional<cost::OverLimit> over(const Tile& tile) const override {
    const std::optional<cost::StagedKernel::Missing> missing = kernel_.missing(tile);
    if (!missing) return std::nullopt;
    return cost::OverLimit{
        fmt::format("what a bank of {} has left for '{}'", memory_, missing->view), "bytes",
        missing->bytes, missing->left};
  }

 private:
  const cost::StagedKernel kernel_;
  const std::string& memory_;
};

// Of each view of the block the bytes of the tensor that it is of: what the first block on the way
// to it has that is one kernel of many.
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

cost::StagedUnits staged_units(const TileChoiceOptions& options) {
  return {options.unit,  options.memory,         options.far, options.transfer, options.spread,
          options.banks, options.bank_KiB * 1024};
}

// The block as a table of strides, with the elementwise kernels that follow it; or why it is none.
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
  return {.memory = options.memory.empty() ? nullptr : model.find_memory(options.memory),
          .pipeline_depth = options.pipeline_depth,
          .max_input_bytes = options.max_input_bytes,
          .max_output_bytes = options.max_output_bytes,
          .max_per_input_bytes = options.max_per_input_bytes,
          .max_per_output_bytes = options.max_per_output_bytes,
          .max_total_bytes = options.max_total_bytes,
          .max_points = options.max_points,
          .max_po2_points = options.max_po2_points,
          .max_tiles = options.max_tiles};
}

// Every note is one text; its lines stand below its first one.
std::string indented(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "      ";
  }
  return out;
}

class Chooser {
 public:
  Chooser(const Block& block, const TileChoiceOptions& options, PassContext& context,
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
        entry.choice.reason = kernel.status().message();
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
    // A reason names its tensors.
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
      costing_ = std::make_unique<RegisterCosting>(tiled_, *registers_, options_.unit);
    } else if (table) {
      costing_ =
          std::make_unique<GroupCosting>(tiled_, *std::move(table), *context_.model().settings);
    } else if (options_.cost == "group_time") {
      const std::optional<cost::GroupRates> rates = group_rates(context_.model(), options_);
      if (!rates) {
        out.reason = "the model does not say what a unit of work groups can do";
        return out;
      }
      costing_ = std::make_unique<GroupTimeCosting>(tiled_, group_form(options_), *rates);
    } else if (options_.cost == "staged_time") {
      STRIA_ASSIGN(staged_, cost::staged_rates(context_.model(), staged_units(options_)));
      Result<cost::StagedKernel> kernel =
          cost::StagedKernel::make(block_, tensor_bytes(program, block_), staged_);
      if (!kernel.ok()) {
        out.reason = kernel.status().message();
        return out;
      }
      costing_ = std::make_unique<StagedCosting>(*std::move(kernel), options_.memory);
    } else {
      costing_ = std::make_unique<TrafficCosting>(tiled_, options_);
    }
    Result<TileSpace> space =
        registers_ ? cost::register_tiles(tiled_, registers_->tiling, registers_->rates)
        : options_.cost == "group_time"
            ? cost::group_tiles(tiled_, group_form(options_))
            : cost::tile_space(tiled_, {.only_po2 = options_.only_po2,
                                        .only_even = options_.only_even,
                                        .only_multiple_of = options_.only_multiple_of,
                                        .cut_reductions = options_.cut_reductions});
    std::vector<ScoredTile> best;
    if (space.ok()) best = options_.search == "ascend" ? climb(*space) : look_everywhere(*space);
    if (best.empty()) {
      out.fits = false;
      out.reason =
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
    // The walk goes on through tiles of which there would be too many: larger ones are fewer.
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
    // Of those that fit otherwise, the one of which there are the fewest.
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
            cost::memory_use(tiled_, tile, *limits_.memory, options_.pipeline_depth);
        text += fmt::format("{}: {:.0f} bytes of {:.0f}", options_.memory, use.bytes, use.capacity);
        if (use.ways > 0) text += fmt::format(", {:.0f} of {} ways", use.places, use.ways);
        text += '\n';
      }
      text += cost::to_string(cost::time_of(tiled_, tile, context_.model(), limits_.memory,
                                            options_.pipeline_depth, unit()));
      context_.note(indented(text));
    }
  }

  // That the block is to run on, if its location says so.
  cost::UnitInUse unit() const {
    if (block_.location.path.empty()) return {};
    const stripe::LocationUnit& last = block_.location.path.back();
    return {context_.model().find_executor(last.name), last.units.empty() ? 0 : 1};
  }

  // Position of the candidate that the device runs in the shortest time; of those that are as fast
  // as far as clocks can tell the best by cost. One that cannot be built or run is left out, unless all are.
  Result<size_t> fastest(const stripe::Program& program, const std::vector<ScoredTile>& best,
                         const ApplyTile& apply) {
    std::optional<Status> failure;
    size_t out = 0;
    double least = kNone;
    Measure::Programs alone;
    for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.measure_top); ++i) {
      // The block's kernel with the candidate in the block's place.
      STRIA_ASSIGN(stripe::Program kernel,
                   kernel_alone(program, block_, apply(choice_of(best[i].tile))));
      alone.push_back(std::move(kernel));
    }
    const std::vector<Result<MeasuredTime>> times =
        measured_times(*context_.measure(), context_.model(), alone);
    for (size_t i = 0; i < times.size(); ++i) {
      const std::string candidate = cost::to_string(tiled_, best[i].tile);
      const Result<MeasuredTime>& time = times[i];
      if (!time.ok()) {
        if (!failure)
          failure =
              time.status().with_context(fmt::format("block '{}', tile {}", name_, candidate));
        context_.count("candidates_that_fail");
        context_.note(fmt::format("{}: {}. {} is left out: {}", name_, i + 1, candidate,
                                  time.status().message()));
        continue;
      }
      context_.count(time->kept ? "times_known" : "candidates_timed");
      if (context_.explaining())
        context_.note(fmt::format("{}: {}. {} takes {:.6g} ns on {}", name_, i + 1, candidate,
                                  time->ns, context_.measure()->device));
      if (time->ns >= kClearlyFaster * least) continue;
      least = time->ns;
      out = i;
    }
    if (least == kNone && failure) return *failure;
    return out;
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

void describe_choice(TileChoiceOptions& options, OptionFields& fields) {
  fields.add("memory", options.memory,
             "memory unit of the model; one instance is to hold the tile; \"\" = no limit");
  fields.add("pipeline_depth", options.pipeline_depth, "tiles at once in that memory",
             {1, 1 << 20});
  fields.add("cost", options.cost, "what is the lowest for the best tile",
             std::vector<std::string>{"traffic", "roofline_occupancy", "registers", "group_time",
                                      "staged_time"});
  fields.add("unit", options.unit,
             "registers, staged_time: execution unit of the model; group_time: the one that runs "
             "groups");
  fields.add("local", options.local, "group_time: memory unit that lanes of a group share");
  fields.add("registers", options.registers, "group_time: memory unit that each lane has");
  fields.add("parts", options.parts,
             "group_time: lanes may share out a step's reduction, tag #parts");
  fields.add("direct", options.direct,
             "group_time: lanes may fetch what they multiply themselves, tag #direct");
  fields.add("far", options.far, "staged_time: memory unit that tensors come from");
  fields.add("transfer", options.transfer, "staged_time: transfer unit that brings tiles");
  fields.add("spread", options.spread,
             "staged_time: a tile is cut into even parts for all instances of the unit");
  fields.add("banks", options.banks,
             "staged_time: instances of `memory` that tensors are spread over", {1, 1 << 20});
  fields.add("bank_KiB", options.bank_KiB,
             "staged_time: of each of them; 0 = what the hardware model gives one instance",
             {0, int64_t{1} << 40});
  fields.add("search", options.search,
             "how tiles are looked for: the best of all sizes, or a greedy walk over doublings",
             std::vector<std::string>{"exhaustive", "ascend"});
  fields.add("only_po2", options.only_po2, "sizes are powers of two");
  fields.add("only_even", options.only_even, "sizes divide their ranges");
  fields.add("only_multiple_of", options.only_multiple_of,
             "sizes are multiples of it; shorter ranges stay whole", {1, 1 << 20});
  fields.add("cut_reductions", options.cut_reductions, "reductions may be cut");
  fields.add("max_input_bytes", options.max_input_bytes,
             "limit of a tile: all `in` views together; 0 = none");
  fields.add("max_output_bytes", options.max_output_bytes, "the same, all `out` views");
  fields.add("max_per_input_bytes", options.max_per_input_bytes, "the same, each `in` view");
  fields.add("max_per_output_bytes", options.max_per_output_bytes, "the same, each `out` view");
  fields.add("max_total_bytes", options.max_total_bytes, "the same, all views");
  fields.add("max_points", options.max_points, "limit of a tile's points; 0 = none");
  fields.add("max_po2_points", options.max_po2_points,
             "the same, each size rounded up to a power of two");
  fields.add("max_tiles", options.max_tiles, "limit of the number of tiles; 0 = none");
  fields.add("input_cost", options.input_cost, "traffic: of an element or line that is read");
  fields.add("output_cost", options.output_cost, "traffic: of one that is written");
  fields.add("split_factor", options.split_factor, "traffic: times log2 of the number of tiles");
  fields.add(
      "small_factor_bound", options.small_factor_bound,
      "traffic: prime factors up to it, of sizes of output indices, make a tile cheaper; 0 = "
      "none",
      {0, 1000});
  fields.add("cache_width_bytes", options.cache_width_bytes,
             "traffic: bytes of a line; 0 = elements count", {0, 1 << 20});
  fields.add("min_points", options.min_points, "traffic: goal for a tile's points", {1});
  fields.add("min_out_points", options.min_out_points,
             "traffic: goal for its points along output indices", {1});
  fields.add("min_tiles", options.min_tiles, "traffic: goal for the number of tiles", {1});
  fields.add("min_out_tiles", options.min_out_tiles,
             "traffic: goal for the number along output indices", {1});
  fields.add(
      "border_cost", options.border_cost,
      "traffic: how much dearer than one inside a tile is whose points are tested, as a part "
      "of it");
  fields.add("measure_top", options.measure_top,
             "the best so many are timed on the device, and the fastest is taken; 0 = none",
             {0, 1000});
  fields.add("explain_top", options.explain_top, "candidates that `--explain autotile` prints",
             {1, 1000});
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
  if (options.cost == "roofline_occupancy") {
    if (!model.settings)
      return not_found("/cost: 'roofline_occupancy' needs the hardware model's `settings`");
    const GroupSettings& s = *model.settings;
    if (s.threads <= 0 || s.mem_width <= 0 || s.goal_groups <= 0 || s.goal_flops_per_byte <= 0)
      return invalid_argument(
          "/cost: 'roofline_occupancy' needs threads, mem_width, goal_groups and "
          "goal_flops_per_byte in the hardware model's `settings`");
  }
  if (options.cost == "registers" || options.cost == "group_time" || options.cost == "staged_time")
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/unit", options.unit));
  if (options.cost == "group_time") {
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/local", options.local));
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/registers", options.registers));
  }
  if (options.cost == "staged_time") {
    if (options.memory.empty())
      return invalid_argument("/cost: 'staged_time' needs the /memory that tiles are brought into");
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/far", options.far));
    STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/transfer", options.transfer));
    const Status rates = cost::staged_rates(model, staged_units(options)).status();
    if (!rates.ok()) return rates.with_context("/cost");
    const MemoryUnit* memory = model.find_memory(options.memory);
    if (options.banks > memory->count)
      return make_error(StatusCode::out_of_range,
                        "/banks: {}, but the hardware model has {} of '{}'", options.banks,
                        memory->count, options.memory);
    if (options.bank_KiB * 1024 > memory->size_bytes)
      return make_error(StatusCode::out_of_range, "/bank_KiB: {}, but one '{}' has {} KiB",
                        options.bank_KiB, options.memory,
                        static_cast<double>(memory->size_bytes) / 1024);
  }
  if (options.measure_top > 0 && !context.measure())
    return unsupported("/measure_top: needs a device that times candidates; there is none here");
  return {};
}

cost::GroupForm group_form(const TileChoiceOptions& options) {
  return {.depth = options.pipeline_depth, .parts = options.parts, .direct = options.direct};
}

std::optional<cost::GroupRates> group_rates(const HardwareModel& model,
                                            const TileChoiceOptions& options) {
  return cost::group_rates(model, options.unit, options.local, options.registers);
}

Result<TileChoice> choose_tile(const stripe::Program& program, const Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply,
                               const std::optional<RegisterBlock>& registers) {
  return Chooser(block, options, context, registers).choose(program, memo, apply);
}

const TileMemo::Entry* TileMemo::find(const Entry& like) const {
  for (const Entry& entry : entries_)
    if (entry.block == like.block && entry.kernel == like.kernel && entry.tiling == like.tiling &&
        entry.tensor_bytes == like.tensor_bytes && entry.alike == like.alike)
      return &entry;
  return nullptr;
}

}  // namespace stria::passes
