// SPDX-License-Identifier: Apache-2.0
// A cost as somebody adds one: the tile that is the widest along its last index, up to a limit.
#include <algorithm>

#include "stria/base/text.h"
#include "stria/cost/tile_cost.h"

namespace stria::cost {
namespace {

class WidestOfBlock final : public BlockCost {
 public:
  WidestOfBlock(const TiledBlock& block, int64_t limit) : block_(block), limit_(limit) {}
  Result<TileSpace> space() const override { return tile_space(block_, {}); }
  double of(const Tile& tile) const override {
    const double width = static_cast<double>(tile.back());
    return tile.back() > limit_ ? kDoesNotFit : 1 / width;
  }
  double bound(const Tile&, const Tile& high) const override {
    return 1 / static_cast<double>(std::min(high.back(), limit_));
  }
  bool hopeless(const Tile& tile) const override { return tile.back() > limit_; }
  std::string terms(const Tile& tile) const override {
    return fmt::format("width={}", tile.back());
  }
  std::optional<OverLimit> over(const Tile& tile) const override {
    return OverLimit{"the width", "points", static_cast<double>(tile.back()),
                     static_cast<double>(limit_)};
  }
  TileMarks marks(const Tile& tile) const override {
    TileMarks out;
    out.outer.set("width", tile.back());
    out.views.emplace_back(1, stripe::Tags{"seen"});
    return out;
  }

 private:
  const TiledBlock& block_;
  const int64_t limit_;
};

class WidestModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override {
    fields.add("width", width_, "points along the last index, at most", {0});
  }
  Status check(const HardwareModel& model, const std::string&) const override {
    if (model.clock_mhz <= 0) return not_found("/cost: 'widest' needs a clock");
    return {};
  }
  Answer on(const TileQuestion& question) const override {
    if (question.tiled.indices.size() > 3) return {nullptr, Refusal("it has too many indices")};
    return {std::make_unique<WidestOfBlock>(question.tiled, width_)};
  }

 private:
  int64_t width_ = 8;
};

}  // namespace

std::unique_ptr<TileCost> make_widest_cost() { return std::make_unique<WidestModel>(); }

}  // namespace stria::cost
