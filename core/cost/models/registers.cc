// SPDX-License-Identifier: Apache-2.0
// The cost `registers`: core/register_time.h.
#include <algorithm>

#include "stria/cost/core/register_time.h"
#include "stria/cost/models/register_block.h"
#include "stria/cost/tile_cost.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::cost {
namespace {

class RegistersOfBlock final : public BlockCost {
 public:
  RegistersOfBlock(const TileQuestion& question, RegisterBlock registers, std::string vector_index,
                   const std::string& unit)
      : block_(question.tiled),
        source_(question.block),
        tiling_(std::move(registers.tiling)),
        rates_(std::move(registers.rates)),
        vector_index_(std::move(vector_index)),
        unit_(unit) {}
  std::unique_ptr<CostKey> key() const override {
    return std::make_unique<KeyOf<RegisterTiling>>(tiling_);
  }
  Result<TileSpace> space() const override { return register_tiles(block_, tiling_, rates_); }
  double of(const Tile& tile) const override { return time(tile).cycles; }
  // The search space is small, so a bound for each single tile is enough.
  double bound(const Tile& low, const Tile& high) const override {
    return low == high ? register_time_bound(block_, tiling_, low, rates_) : 0;
  }
  bool hopeless(const Tile& tile) const override {
    return all_larger_are_over(block_, tiling_, tile, rates_);
  }
  std::string terms(const Tile& tile) const override { return to_string(time(tile), rates_); }
  std::optional<OverLimit> over(const Tile& tile) const override {
    return OverLimit{"the vector registers of " + unit_, "vectors", time(tile).registers,
                     static_cast<double>(rates_.registers)};
  }
  // Panels are cut along the dimension that the lanes walk along.
  TileMarks marks(const Tile& tile) const override {
    TileMarks out;
    const RegisterTime of = time(tile);
    if (of.along) out.along = block_.indices[*of.along].name;
    size_t position = 0;
    for (const stripe::Refinement& ref : source_.refs) {
      if (ref.dir == stripe::RefDir::none) continue;
      const size_t view = position++;
      if (std::find(of.panels.begin(), of.panels.end(), view) == of.panels.end()) continue;
      for (size_t d = 0; d < ref.access.size(); ++d)
        if (ref.access[d].uses(vector_index_))
          out.views.emplace_back(view, stripe::Tags())
              .second.set(stripe::tag::kPanels, static_cast<int64_t>(d));
    }
    return out;
  }

 private:
  RegisterTime time(const Tile& tile) const { return register_time(block_, tiling_, tile, rates_); }

  const TiledBlock& block_;
  const stripe::Block& source_;
  const RegisterTiling tiling_;
  const CoreRates rates_;
  const std::string vector_index_;
  const std::string& unit_;
};

class RegistersModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override {
    fields.unit("unit", unit_, "execution unit of the model: a core");
    fields.add("min_range", min_range_,
               "an index with fewer points gets no lanes; 0 = the calibration of the model says");
    fields.add("panels", panels_,
               "tag views that are read faster from a copy, for pack_panels; the value is the "
               "dimension to be cut");
  }
  Status check(const HardwareModel& model, const std::string&) const override {
    return passes::check_unit(model, passes::UnitUse::run, "/unit", unit_);
  }
  Answer on(const TileQuestion& question) const override {
    // A block that gets no lanes is one tile.
    const passes::VectorChoice vector =
        passes::choose_vector(question.block, question.model, min_range_);
    if (vector.index.empty()) return {};
    std::optional<RegisterBlock> registers =
        register_block(question.program, question.block, vector, question.model, unit_, panels_);
    if (!registers)
      return {nullptr, Refusal("the model does not say how many vector registers there are")};
    return {
        std::make_unique<RegistersOfBlock>(question, *std::move(registers), vector.index, unit_)};
  }

 private:
  std::string unit_ = "CORE";
  int64_t min_range_ = 0;
  bool panels_ = false;
};

}  // namespace

std::unique_ptr<TileCost> make_registers_cost() { return std::make_unique<RegistersModel>(); }

}  // namespace stria::cost
