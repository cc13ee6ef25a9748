// SPDX-License-Identifier: Apache-2.0
// The choice that autotile makes: which tile of a block is the best, by a cost on the hardware
// model, or by the times that a device takes for the best few.
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
  // "traffic"; "roofline_occupancy", by the model's settings; "registers", by the rates of `unit`;
  // "group_time", by the rates of a processor that runs work groups; or "staged_time", by the rates
  // of a unit that works on tiles which a transfer unit copies into `memory`.
  std::string cost = "traffic";
  // For the costs "registers", "group_time" and "staged_time": execution unit of the model.
  std::string unit = "CORE";
  // For the cost "group_time": the memory unit that lanes share, and the one that each lane has.
  std::string local = "LOCAL", registers = "REG";
  // And two choices for groups: whether lanes may divide a step's reduction among themselves as
  // well as its outputs (tag #parts), and whether they may load operands from global memory without
  // staging them (tag #direct).
  bool parts = false, direct = false;
  // For the cost "staged_time": whether a tile is cut into even parts for all instances of the
  // unit; the memory unit that tensors come from, and the transfer unit; the instances of `memory`
  // that tensors are spread over, and KiB of each (0 = what the model gives one).
  bool spread = false;
  std::string global = "DRAM", transfer = "DMA";
  int64_t banks = 1, bank_KiB = 0;
  std::string search = "exhaustive";  // or "ascend"
  cost::TileFilter filter;
  cost::TileLimits limits;  // their `memory` is the unit of that name
  cost::TrafficSettings traffic;
  int64_t measure_top = 0;  // so many of the best candidates are timed; 0 = the cost decides
  // By how much the times of two builds of one kernel may differ. A candidate must be faster by
  // more than this, and by 2%, to be preferred to one of lower cost.
  int64_t measure_margin_ns = 0;
  int64_t explain_top = 5;  // so many of the best candidates are noted by --explain

  bool operator==(const TileChoiceOptions&) const = default;
};
void describe_choice(TileChoiceOptions& options, OptionFields& fields);
// Describes only the options that the cost `group_time` reads.
void describe_group_choice(TileChoiceOptions& options, OptionFields& fields);
// The first option that differs from its default, as in `/memory: "SRAM"`; "" if none does.
std::string first_given(TileChoiceOptions options);

// Checks options against each other and against the model. not_found or invalid_argument, with the
// JSON path, for an option that the cost does not read or that names what the model does not have;
// unsupported if `measure_top` is given and there is no device.
Status check_choice(const TileChoiceOptions& options, const PassContext& context);

struct TileChoice {
  // By index name. If empty, `refusal` says why the block is left alone, or that nothing fits.
  std::map<std::string, int64_t> sizes;
  // With the cost "registers": the views that are to be read from panels
  // (stria/passes/layout/pack_panels.h), by position among the block's refinements without its
  // allocations.
  std::vector<size_t> panels;
  // With the cost "registers": the index along which tiles follow each other; "": the one that
  // reads the fewest new bytes.
  std::string along;
  int64_t group_lanes = 0;  // with the cost "group_time", lanes of a group
  int64_t parts = 0;        // into which they divide a step's reduction; 0: not asked for
  bool direct = false;      // they load operands from global memory without staging
  Refusal refusal = Refusal::none();
  bool fits = true;  // false: no tile does, and `refusal` says which limit the smallest is over
};

// The choices made so far under the same options. Blocks that differ in names of tensors alone get
// the same tile, and the search runs only once.
class TileMemo {
 public:
  struct Entry {
    cost::TiledBlock block;  // without names of its own and of tensors
    std::optional<cost::FlatKernel> kernel;
    std::optional<cost::RegisterTiling> tiling;
    // With the cost "staged_time", which also looks at types, operations and layouts: the bytes of
    // each view's tensor, and the block itself without names.
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

// Cuts a copy of a block, so that it can be timed.
using ApplyTile = std::function<stripe::Block(const TileChoice& choice)>;

// What a choice with the cost "group_time" also needs to know; nullopt if the model does not say
// it.
std::optional<cost::GroupRates> group_rates(const HardwareModel& model,
                                            const TileChoiceOptions& options);
cost::GroupForm group_form(const TileChoiceOptions& options);
// What a choice with the cost "staged_time" also needs to know.
cost::StagedUnits staged_units(const TileChoiceOptions& options);

// The best tile of `block`, which is in `program`. With --explain it notes the best candidates with
// every term. Fails only if no candidate can be timed. The options must have been checked.
Result<TileChoice> choose_tile(const stripe::Program& program, const stripe::Block& block,
                               const TileChoiceOptions& options, PassContext& context,
                               TileMemo& memo, const ApplyTile& apply,
                               const std::optional<RegisterBlock>& registers = std::nullopt);

}  // namespace stria::passes
