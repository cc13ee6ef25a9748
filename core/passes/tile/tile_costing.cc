// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/tile_costing.h"

#include <limits>

#include "stria/base/text.h"
#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/workgroup/roofline_occupancy.h"
#include "stria/cost/workgroup/score_bound.h"

namespace stria::passes {
namespace {

using cost::Tile;
using cost::TiledBlock;

constexpr double kNone = std::numeric_limits<double>::infinity();

class TrafficCosting final : public Costing {
 public:
  TrafficCosting(const TiledBlock& block, const cost::TrafficSettings& settings)
      : block_(block), settings_(settings) {}
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
  const cost::TrafficSettings& settings_;
};

// The table orders indices by name, while a tile has them in the block's order.
class OccupancyCosting final : public Costing {
 public:
  OccupancyCosting(const TiledBlock& block, cost::FlatKernel kernel, const GroupSettings& settings)
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
  // Tiles that differ only in the reduction mostly load the same number of bytes.
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
  mutable Tile low_, high_;  // in the table's order; members, so that memory is allocated once
};

class RegisterCosting final : public Costing {
 public:
  RegisterCosting(const TiledBlock& block, const RegisterBlock& registers, const std::string& unit)
      : block_(block), tiling_(registers.tiling), rates_(registers.rates), unit_(unit) {}
  double of(const Tile& tile) const override { return time(tile).cycles; }
  // The search space is small, so a bound for each single tile is enough.
  double bound(const Tile& low, const Tile& high) const override {
    return low == high ? cost::register_time_bound(block_, tiling_, low, rates_) : 0;
  }
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
  void describe(const Tile& tile, TileChoice& choice) const override {
    if (const std::optional<size_t> along = time(tile).along)
      choice.along = block_.indices[*along].name;
  }

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
    choice.group_lanes = of.group_lanes;
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
  // A larger tile takes more memory.
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

}  // namespace

std::unique_ptr<Costing> traffic_costing(const TiledBlock& block,
                                         const cost::TrafficSettings& settings) {
  return std::make_unique<TrafficCosting>(block, settings);
}

std::unique_ptr<Costing> occupancy_costing(const TiledBlock& block, cost::FlatKernel kernel,
                                           const GroupSettings& settings) {
  return std::make_unique<OccupancyCosting>(block, std::move(kernel), settings);
}

std::unique_ptr<Costing> register_costing(const TiledBlock& block, const RegisterBlock& registers,
                                          const std::string& unit) {
  return std::make_unique<RegisterCosting>(block, registers, unit);
}

std::unique_ptr<Costing> group_costing(const TiledBlock& block, const cost::GroupForm& form,
                                       const cost::GroupRates& rates) {
  return std::make_unique<GroupTimeCosting>(block, form, rates);
}

std::unique_ptr<Costing> staged_costing(cost::StagedKernel kernel, const std::string& memory) {
  return std::make_unique<StagedCosting>(std::move(kernel), memory);
}

}  // namespace stria::passes
