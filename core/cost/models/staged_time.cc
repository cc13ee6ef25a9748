// SPDX-License-Identifier: Apache-2.0
// The cost `staged_time`: staged/staged_time.h.
#include "stria/cost/staged/staged_time.h"

#include "stria/base/text.h"
#include "stria/cost/tile_cost.h"
#include "stria/rewrite/kernel_memo.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/panel_chain.h"
#include "stria/stripe/tags.h"

namespace stria::cost {
namespace {

// For each view of the block its tensor: the refinement that the section has, or an allocation
// inside the kernel.
std::vector<StagedTensor> tensors(const stripe::Program& program, const stripe::Block& block) {
  std::vector<StagedTensor> out;
  const std::vector<const stripe::Block*> path = passes::path_to(program, block);
  for (const stripe::Refinement& view : block.refs) {
    if (view.dir == stripe::RefDir::none) continue;
    const stripe::Refinement* ref = &view;
    bool of_section = false;
    for (size_t p = path.size(); p > 0 && ref->dir != stripe::RefDir::none; --p) {
      const stripe::Block* around = path[p - 1];
      if (around == &block) continue;
      const stripe::Refinement* behind = around->find_ref(ref->from);
      if (!behind) break;
      ref = behind;
      of_section = around == program.main() || around == program.prologue();
      if (of_section) break;
    }
    out.push_back({ref->shape.element_count() * byte_size(ref->shape.type),
                   of_section && ref->dir == stripe::RefDir::none});
  }
  return out;
}

// A way to run a kernel: on one of two units, a tile on an instance each or spread over all.
struct StagedWay {
  StagedRates rates;
  bool other_unit = false;
};

class StagedOfBlock final : public BlockCost {
 public:
  // `ways`: those that are looked at. `says_spread`: the tile says whether it is spread.
  StagedOfBlock(const TileQuestion& question, const TileFilter& filter, std::vector<StagedWay> ways,
                bool says_spread)
      : block_(question.tiled),
        source_(question.block),
        filter_(filter),
        memory_(question.memory),
        ways_(std::move(ways)),
        says_spread_(says_spread),
        tensors_(tensors(question.program, question.block)) {}
  // It also looks at types, operations and layouts.
  std::unique_ptr<CostKey> key() const override {
    using Key = std::pair<std::vector<StagedTensor>, stripe::Block>;
    return std::make_unique<KeyOf<Key>>(Key(tensors_, passes::nameless(source_)));
  }
  // A unit that lacks a type of the block is not looked at.
  Refusal start() override {
    Refusal why = Refusal::none();
    for (const StagedWay& way : ways_) {
      Result<StagedKernel> kernel = StagedKernel::make(source_, tensors_, way.rates);
      if (kernel.ok()) {
        kernels_.push_back(*std::move(kernel));
        way_of_.push_back(&way);
      } else if (!why) {
        why = kernel.status().message();
      }
    }
    return kernels_.empty() ? why : Refusal::none();
  }
  Result<TileSpace> space() const override { return kernels_[0].space(filter_); }
  double of(const Tile& tile) const override { return best(tile).time.cost; }
  double bound(const Tile& low, const Tile& high) const override {
    double out = kDoesNotFit;
    for (const StagedKernel& kernel : kernels_) out = std::min(out, kernel.bound(low, high));
    return out;
  }
  // A larger tile takes more memory, spread or not.
  bool hopeless(const Tile& tile) const override { return kernels_[0].missing(tile).has_value(); }
  std::string terms(const Tile& tile) const override {
    const auto [time, way] = best(tile);
    return to_string(time) + (says_spread_ && way->rates.spread ? " spread" : "") +
           (way->other_unit ? " on " + way->rates.unit->name : "");
  }
  std::optional<OverLimit> over(const Tile& tile) const override {
    const std::optional<StagedKernel::Missing> missing = kernels_[0].missing(tile);
    if (!missing) return std::nullopt;
    return OverLimit{fmt::format("what a bank of {} has left for '{}'", memory_, missing->view),
                     "bytes", missing->bytes, missing->left};
  }
  TileMarks marks(const Tile& tile) const override {
    TileMarks out;
    const auto [time, way] = best(tile);
    if (time.cost == kDoesNotFit) return out;
    if (says_spread_ && way->rates.spread)
      out.inner.set(way->other_unit ? stripe::tag::kSpreadOrUnit : stripe::tag::kSpread);
    if (way->other_unit) out.outer.set(stripe::tag::kOrUnit);
    if (time.tiles * time.steps < 2) return out;
    out.outer.set(stripe::tag::kTilesUnderWay, time.under_way);
    if (time.steps > 1) out.outer.set(stripe::tag::kStepsUnderWay, time.steps_under_way);
    for (size_t view : time.in_parts)
      out.views.emplace_back(view, stripe::Tags()).second.set(stripe::tag::kTileByTile);
    return out;
  }

 private:
  struct Best {
    StagedTime time;
    const StagedWay* way = nullptr;
  };
  Best best(const Tile& tile) const {
    Best out{kernels_[0].time(tile), way_of_[0]};
    for (size_t i = 1; i < kernels_.size(); ++i) {
      if (kernels_[i].bound(tile, tile) >= out.time.cost) continue;
      if (StagedTime other = kernels_[i].time(tile); other.cost < out.time.cost)
        out = {std::move(other), way_of_[i]};
    }
    return out;
  }

  const TiledBlock& block_;
  const stripe::Block& source_;
  const TileFilter& filter_;
  const std::string& memory_;
  const std::vector<StagedWay> ways_;
  const bool says_spread_;
  const std::vector<StagedTensor> tensors_;
  // From start() on: of each of the ways that the kernel can go.
  std::vector<StagedKernel> kernels_;
  std::vector<const StagedWay*> way_of_;
};

class StagedTimeModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override {
    describe_filter(filter_, fields);
    fields.unit("unit", unit_, "execution unit of the model");
    fields.unit("or_unit", or_unit_,
                "another execution unit; kernels for which it takes less time are tagged #or_unit, "
                "and #spread_or_unit if spread; later steps locate and cut them; \"\" = none",
                WhenEmpty::none);
    fields.unit("global", global_, "memory unit that tensors come from");
    fields.formerly("far");
    fields.unit("transfer", transfer_, "transfer unit that copies tiles");
    fields.add("spread", spread_, "a tile is cut into even parts for all instances of the unit");
    fields.add("may_spread", may_spread_,
               "tiles for which that takes less time are tagged #spread; a later step cuts them");
    fields.add("banks", banks_, "instances of `memory` that tensors are spread over", {1, 1 << 20});
    fields.add("bank_KiB", bank_KiB_,
               "KiB of each of them; 0 = what the hardware model gives one instance",
               {0, int64_t{1} << 40});
  }
  Status check(const HardwareModel& model, const std::string& memory) const override {
    STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::run, "/unit", unit_));
    if (memory.empty())
      return invalid_argument("/cost: 'staged_time' needs the /memory that tiles are brought into");
    STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::hold, "/global", global_));
    STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::run, "/transfer", transfer_));
    if (spread_ && may_spread_)
      return invalid_argument("/may_spread: with /spread all tiles are spread");
    STRIA_RETURN_IF_ERROR(passes::check_unit(model, passes::UnitUse::run, "/or_unit", or_unit_));
    if (or_unit_ == unit_)
      return invalid_argument("/or_unit: '{}' is the /unit itself; \"\" = no other", or_unit_);
    for (const std::string& unit : {unit_, or_unit_}) {
      if (unit.empty()) continue;
      const Status rates = staged_rates(model, units(memory, unit)).status();
      if (!rates.ok()) return rates.with_context("/cost");
    }
    const MemoryUnit* unit = model.find_memory(memory);
    if (banks_ > unit->count)
      return make_error(StatusCode::out_of_range,
                        "/banks: {}, but the hardware model has {} of '{}'", banks_, unit->count,
                        memory);
    if (bank_KiB_ * 1024 > unit->size_bytes)
      return make_error(StatusCode::out_of_range, "/bank_KiB: {}, but one '{}' has {} KiB",
                        bank_KiB_, memory, static_cast<double>(unit->size_bytes) / 1024);
    return {};
  }
  // Views may lie in several banks.
  bool knows_room() const override { return true; }
  Answer on(const TileQuestion& question) const override {
    std::vector<StagedWay> ways;
    for (const std::string& unit : {unit_, or_unit_}) {
      if (unit.empty()) continue;
      const ExecutionUnit* found = question.model.find_executor(unit);
      const bool may_spread = may_spread_ && found && found->count > 1;
      for (int way = 0; way < (may_spread ? 2 : 1); ++way) {
        StagedUnits units = this->units(question.memory, unit);
        units.spread = spread_ || way > 0;
        Result<StagedRates> rates = staged_rates(question.model, units);
        if (!rates.ok()) return {nullptr, Refusal(rates.status().message())};
        ways.push_back({*std::move(rates), unit != unit_});
      }
    }
    return {std::make_unique<StagedOfBlock>(question, filter_, std::move(ways), may_spread_)};
  }

 private:
  StagedUnits units(const std::string& memory, const std::string& unit) const {
    return {unit, memory, global_, transfer_, spread_, banks_, bank_KiB_ * 1024};
  }

  TileFilter filter_;
  std::string unit_ = "CORE", or_unit_, global_ = "DRAM", transfer_ = "DMA";
  bool spread_ = false, may_spread_ = false;
  int64_t banks_ = 1, bank_KiB_ = 0;
};

}  // namespace

std::unique_ptr<TileCost> make_staged_time_cost() { return std::make_unique<StagedTimeModel>(); }

}  // namespace stria::cost
