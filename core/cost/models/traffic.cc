// SPDX-License-Identifier: Apache-2.0
// The cost `traffic`: block/traffic_cost.h.
#include "stria/base/text.h"
#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/tile_cost.h"

namespace stria::cost {
namespace {

class TrafficOfBlock final : public BlockCost {
 public:
  TrafficOfBlock(const TiledBlock& block, const TileFilter& filter, const TrafficSettings& settings)
      : block_(block), filter_(filter), settings_(settings) {}
  Result<TileSpace> space() const override { return tile_space(block_, filter_); }
  double of(const Tile& tile) const override { return traffic_cost(block_, tile, settings_).cost; }
  double bound(const Tile& low, const Tile& high) const override {
    return traffic_cost_bound(block_, low, high, settings_);
  }
  bool hopeless(const Tile&) const override { return false; }
  std::string terms(const Tile& tile) const override {
    return to_string(traffic_cost(block_, tile, settings_)) +
           fmt::format(" border_tiles={:.0f}", border_tiles_of(block_, tile));
  }

 private:
  const TiledBlock& block_;
  const TileFilter& filter_;
  const TrafficSettings& settings_;
};

class TrafficModel final : public TileCost {
 public:
  void describe(OptionFields& fields) override {
    describe_filter(filter_, fields);
    fields.add("input_cost", settings_.input_cost, "cost of an element or line that is read");
    fields.add("output_cost", settings_.output_cost, "cost of one that is written");
    fields.add("split_factor", settings_.split_factor, "factor of the term log2(number of tiles)");
    fields.add("small_factor_bound", settings_.small_factor_bound,
               "prime factors up to this one, of sizes of output indices, make a tile cheaper; 0 = "
               "none",
               {0, 1000});
    fields.add("cache_width_bytes", settings_.cache_width_bytes,
               "bytes of a line; 0 = elements count", {0, 1 << 20});
    fields.add("min_points", settings_.min_points, "goal for a tile's points", {1});
    fields.add("min_out_points", settings_.min_out_points,
               "goal for its points along output indices", {1});
    fields.add("min_tiles", settings_.min_tiles, "goal for the number of tiles", {1});
    fields.add("min_out_tiles", settings_.min_out_tiles, "goal for the number along output indices",
               {1});
    fields.add("border_cost", settings_.border_cost,
               "extra cost of a border tile, whose points are tested, as a fraction of the cost of "
               "an interior tile");
  }
  Answer on(const TileQuestion& question) const override {
    return {std::make_unique<TrafficOfBlock>(question.tiled, filter_, settings_)};
  }

 private:
  TileFilter filter_;
  TrafficSettings settings_;
};

}  // namespace

std::unique_ptr<TileCost> make_traffic_cost() { return std::make_unique<TrafficModel>(); }

}  // namespace stria::cost
