// SPDX-License-Identifier: Apache-2.0
// A cost by which `autotile` chooses tiles, as one object: its options, what it asks of a machine,
// and for one block the tiles that it looks at, what each costs and why, a proven bound, and the
// tags that a tile gets. models/cost_models.def lists all of them; a new one is a file in models/
// and a line there.
//
//   options ──TileCost::describe──> TileCost ──on(question)──> BlockCost ──> search/tile_search.h
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/base/status.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/search/tile_space.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/option_fields.h"
#include "stria/stripe/block.h"

namespace stria::cost {

// The cost of a tile that does not fit.
inline constexpr double kDoesNotFit = std::numeric_limits<double>::infinity();

// What is asked: a block, and where its tiles are to be. All borrowed.
struct TileQuestion {
  const stripe::Program& program;
  const stripe::Block& block;  // in `program`
  const TiledBlock& tiled;     // of it
  const HardwareModel& model;
  const std::string& memory;  // memory unit, one instance of which holds a tile; "" = none
  int64_t depth = 1;          // tiles at once in it
};

// What a tile says besides its sizes.
struct TileMarks {
  stripe::Tags outer;  // of the block over the tiles
  stripe::Tags inner;  // of the tile; of the block if one tile is all of it
  // Of views, by position among the block's refinements without its allocations.
  std::vector<std::pair<size_t, stripe::Tags>> views;
  // The index along which tiles follow each other; "": the one that reads the fewest new bytes.
  std::string along;
};

// What a cost looks at besides a TiledBlock, without names of tensors: equal keys and equal tiled
// blocks get the same tile.
class CostKey {
 public:
  virtual ~CostKey() = default;
  virtual bool equals(const CostKey& other) const = 0;
};
// Whatever can be compared.
template <typename T>
class KeyOf final : public CostKey {
 public:
  explicit KeyOf(T value) : value_(std::move(value)) {}
  bool equals(const CostKey& other) const override {
    const auto* same = dynamic_cast<const KeyOf*>(&other);
    return same && same->value_ == value_;
  }

 private:
  T value_;
};

// The cost of one block's tiles; lower is better. For one thread. Borrows what the question does.
class BlockCost {
 public:
  virtual ~BlockCost() = default;
  // Null: the tiled block says all.
  virtual std::unique_ptr<CostKey> key() const { return nullptr; }
  // Called once, before all that follows, unless a block of the same key has its tile already:
  // what takes time is done here. A refusal leaves the block alone.
  virtual Refusal start() { return Refusal::none(); }

  // The tiles that are looked at. invalid_argument: no size of an index is let pass.
  virtual Result<TileSpace> space() const = 0;
  // kDoesNotFit if the tile does not.
  virtual double of(const Tile& tile) const = 0;
  // Not above the cost of any tile that is at least `low` and at most `high`, index by index.
  virtual double bound(const Tile& low, const Tile& high) const = 0;
  // True only if neither the tile nor a larger one fits.
  virtual bool hopeless(const Tile& tile) const = 0;
  // Indices whose sizes change the cost little (SearchCost::last).
  virtual std::vector<size_t> last() const { return {}; }
  // What the search `ascend` maximises; above 0 if the tile fits.
  virtual double score(const Tile& tile) const { return 1 / of(tile); }
  // Every term of the cost of a tile, for people, in one or more lines.
  virtual std::string terms(const Tile& tile) const = 0;
  // For a tile whose cost is infinite, the limit that it exceeds, if the cost can tell.
  virtual std::optional<OverLimit> over(const Tile&) const { return std::nullopt; }
  virtual TileMarks marks(const Tile&) const { return {}; }
};

class TileCost {
 public:
  virtual ~TileCost() = default;
  // Adds the options, which bind to this object.
  virtual void describe(OptionFields&) {}
  // Do the options and the machine serve? The JSON paths of errors begin at the options. `memory`:
  // as in a question.
  virtual Status check(const HardwareModel&, const std::string& memory) const {
    (void)memory;
    return {};
  }
  // Does it say itself whether a tile has room in the memory? Else one instance has to hold it.
  virtual bool knows_room() const { return false; }
  // Null: a tile is the whole block. The object must live as long as the answer, and not change.
  struct Answer {
    std::unique_ptr<BlockCost> cost;
    Refusal refusal = Refusal::none();  // then there is no cost, and the block is left alone
  };
  virtual Answer on(const TileQuestion& question) const = 0;
};

// The options of costs that let their tiles be filtered.
void describe_filter(TileFilter& filter, OptionFields& fields);

}  // namespace stria::cost
