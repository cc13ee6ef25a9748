// SPDX-License-Identifier: Apache-2.0
// The choice that autotile makes: which tile of a block is the best, by a cost on the hardware
// model, or by the times that a device takes for the best few.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "stria/base/refusal.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/models/cost_models.h"
#include "stria/cost/search/tile_space.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct TileChoiceOptions {
  std::string memory;  // memory unit, one instance of which is to hold the tile; "" = none
  cost::CostChoice cost;
  std::string search = "exhaustive";  // or "quick", "ascend"
  // The exhaustive search may end with a tile that costs so many percent more than the cheapest,
  int64_t gap_percent = 0;
  // and when it has looked at so many tiles; 0 = never.
  int64_t max_looked_at = 0;
  cost::TileLimits limits;  // their `memory` is the unit of that name
  int64_t measure_top = 0;  // so many of the best candidates are timed; 0 = the cost decides
  // By how much the times of two builds of one kernel may differ. A candidate must be faster by
  // more than this, and by 2%, to be preferred to one of lower cost.
  int64_t measure_margin_ns = 0;
  int64_t explain_top = 5;  // so many of the best candidates are noted by --explain
};
void describe_choice(TileChoiceOptions& options, OptionFields& fields);

// Checks options against the model. not_found or invalid_argument, with the JSON path, for one that
// names what the model does not have; unsupported if `measure_top` is given and there is no device.
Status check_choice(const TileChoiceOptions& options, const PassContext& context);

struct TileChoice {
  // By index name. If empty, `refusal` says why the block is left alone, or that nothing fits, or a
  // tile is the whole block.
  std::map<std::string, int64_t> sizes;
  cost::TileMarks marks;
  Refusal refusal = Refusal::none();
  bool fits = true;  // false: no tile does, and `refusal` says which limit the smallest is over
};

// The choices made so far under the same options. Blocks that differ in names of tensors alone get
// the same tile, and the search runs only once.
class TileMemo {
 public:
  struct Entry {
    cost::TiledBlock block;  // without names of its own and of tensors
    std::shared_ptr<const cost::CostKey> key;
    std::string name;  // of the first such block
    TileChoice choice;
  };
  // Null if there is none.
  const Entry* find(const Entry& like) const;
  void keep(Entry entry) { entries_.push_back(std::move(entry)); }

 private:
  std::deque<Entry> entries_;
};

// Cuts a copy of a block, so that it can be timed.
using ApplyTile = std::function<stripe::Block(const TileChoice& choice)>;

// The best tile of `block`, which is in `program`. With --explain it notes the best candidates with
// every term. Fails only if no candidate can be timed. The options must have been checked.
Result<TileChoice> choose_tile(const stripe::Program& program, const stripe::Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply);

}  // namespace stria::passes
