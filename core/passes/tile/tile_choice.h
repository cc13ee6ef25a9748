// SPDX-License-Identifier: Apache-2.0
// Which tile of a block is the best, by a cost on the hardware model, or by the times that a device
// takes for the best few: the choice that autotile makes, apart from what it does with it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/cost/block/flat_kernel.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/search/tile_space.h"
#include "stria/cost/staged/staged_time.h"
#include "stria/cost/workgroup/group_time.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/tile/register_block.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct TileChoiceOptions {
  std::string memory;  // memory unit, one instance of which is to hold the tile; "" = none
  // Or "roofline_occupancy", by the model's settings; or "registers", by the rates of `unit`; or
  // "group_time", by those of a processor of work groups; or "staged_time", by those of a unit that
  // works on tiles which a transfer unit brings into `memory`.
  std::string cost = "traffic";
  // Of the costs "registers", "group_time" and "staged_time": execution unit of the model.
  std::string unit = "CORE";
  // Of the cost "group_time": memory units that lanes share, and that each has of its own.
  std::string local = "LOCAL", registers = "REG";
  // And what groups may be like: whether lanes may share out a step's reduction besides its outputs
  // (tag #parts), and whether they may fetch what they multiply themselves (tag #direct).
  bool parts = false, direct = false;
  // Of the cost "staged_time": memory unit that tensors come from, and the transfer unit; instances
  // of `memory` that tensors are spread over, and KiB of each (0 = what the model gives one); and
  // whether a tile is cut into even parts for all instances of the unit.
  bool spread = false;
  std::string global = "DRAM", transfer = "DMA";
  int64_t banks = 1, bank_KiB = 0;
  std::string search = "exhaustive";  // or "ascend"
  cost::TileFilter filter;
  cost::TileLimits limits;  // their `memory` is the unit of that name
  cost::TrafficSettings traffic;
  int64_t measure_top = 0;  // the best so many are timed; 0 = the cost decides
  // What times of one kernel may differ by from one build to the next: a candidate must be faster
  // by more, and by 2%, to be taken before one that is better by cost.
  int64_t measure_margin_ns = 0;
  int64_t explain_top = 5;  // the best so many are noted if the pass explains itself

  bool operator==(const TileChoiceOptions&) const = default;
};
void describe_choice(TileChoiceOptions& options, OptionFields& fields);
// Only what the cost `group_time` reads, and no other cost.
void describe_group_choice(TileChoiceOptions& options, OptionFields& fields);
// "/memory: "SRAM"", the first option that is not as it is by default; "" if all are.
std::string first_given(TileChoiceOptions options);

// Options against each other and the model: not_found or invalid_argument with the JSON path of an
// option that the cost does not read, or that asks for what the model does not have; unsupported if
// `measure_top` finds no device.
Status check_choice(const TileChoiceOptions& options, const PassContext& context);

struct TileChoice {
  // By index name; empty: `refusal` says why the block is left alone, or that nothing fits.
  std::map<std::string, int64_t> sizes;
  // With the cost "registers", positions among the block's views (refinements that are no
  // allocations): to be read from copies in panels (stria/passes/layout/pack_panels.h).
  std::vector<size_t> panels;
  // With the cost "registers": the index along which tiles follow each other, where that is not the
  // one that reads the least anew. "": it is.
  std::string along;
  int64_t group_lanes = 0;  // with the cost "group_time", lanes of a group
  int64_t parts = 0;        // that they share out a step's reduction in; 0: not asked
  bool direct = false;      // they fetch what they multiply themselves
  Refusal refusal = Refusal::none();
  bool fits = true;  // false: no tile does, and `refusal` says which limit the smallest is over
};

// What was chosen so far under the same options: blocks that differ in names of tensors alone get
// the same tile, looked for once.
class TileMemo {
 public:
  struct Entry {
    cost::TiledBlock block;  // without names of its own and of tensors
    std::optional<cost::FlatKernel> kernel;
    std::optional<cost::RegisterTiling> tiling;
    // With the cost "staged_time", which looks at types, operations and layouts: of each view its
    // tensor's bytes, and the block itself, nameless.
    std::vector<int64_t> tensor_bytes;
    stripe::Block alike;
    std::string name;  // of the first such block
    TileChoice choice;
  };
  // Null if there is none.
  const Entry* find(const Entry& like) const;
  void keep(Entry entry) { entries_.push_back(std::move(entry)); }

 private:
  std::deque<Entry> entries_;
};

// Cuts a copy of a block, for timing it.
using ApplyTile = std::function<stripe::Block(const TileChoice& choice)>;

// What a choice with the cost "group_time" needs to know besides; nullopt if the model does not say
// it.
std::optional<cost::GroupRates> group_rates(const HardwareModel& model,
                                            const TileChoiceOptions& options);
cost::GroupForm group_form(const TileChoiceOptions& options);
// And with the cost "staged_time".
cost::StagedUnits staged_units(const TileChoiceOptions& options);

// The best tile of `block`, which is in `program`. Notes the best candidates with every term if the
// context explains. Fails only where no candidate can be timed. Options have been checked.
Result<TileChoice> choose_tile(const stripe::Program& program, const stripe::Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply,
                               const std::optional<RegisterBlock>& registers = std::nullopt);

}  // namespace stria::passes
