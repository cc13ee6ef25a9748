// SPDX-License-Identifier: Apache-2.0
// What the tiles of one block cost, by the cost that the options of a choice name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stria/cost/block/flat_kernel.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/search/tile_space.h"
#include "stria/cost/staged/staged_time.h"
#include "stria/cost/workgroup/group_time.h"
#include "stria/passes/tile/register_block.h"
#include "stria/passes/tile/tile_choice.h"

namespace stria::passes {

// A cost of one block's tiles; lower is better. It borrows what it is made from.
class Costing {
 public:
  virtual ~Costing() = default;
  // Infinite if the tile does not fit.
  virtual double of(const cost::Tile& tile) const = 0;
  virtual double bound(const cost::Tile& low, const cost::Tile& high) const = 0;
  virtual bool hopeless(const cost::Tile& tile) const = 0;
  // TileCost::last.
  virtual std::vector<size_t> last() const { return {}; }
  // What the search `ascend` maximises; above 0 if the tile fits.
  virtual double score(const cost::Tile& tile) const = 0;
  virtual std::string terms(const cost::Tile& tile) const = 0;
  // For a tile whose cost is infinite, the limit that it exceeds, if the cost can tell.
  virtual std::optional<cost::OverLimit> over(const cost::Tile&) const { return std::nullopt; }
  virtual std::vector<size_t> panels(const cost::Tile&) const { return {}; }
  // Sets what the choice says besides sizes and panels.
  virtual void describe(const cost::Tile&, TileChoice&) const {}
};

std::unique_ptr<Costing> traffic_costing(const cost::TiledBlock& block,
                                         const cost::TrafficSettings& settings);
// `kernel`: the block as a table.
std::unique_ptr<Costing> occupancy_costing(const cost::TiledBlock& block, cost::FlatKernel kernel,
                                           const GroupSettings& settings);
std::unique_ptr<Costing> register_costing(const cost::TiledBlock& block,
                                          const RegisterBlock& registers, const std::string& unit);
std::unique_ptr<Costing> group_costing(const cost::TiledBlock& block, const cost::GroupForm& form,
                                       const cost::GroupRates& rates);
std::unique_ptr<Costing> staged_costing(cost::StagedKernel kernel, const std::string& memory);

}  // namespace stria::passes
