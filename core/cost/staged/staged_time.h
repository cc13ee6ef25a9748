// SPDX-License-Identifier: Apache-2.0
// How long a machine takes for a kernel that works in a scratchpad, tile by tile. A transfer unit
// copies into the scratchpad what a tile reads from global memory, and copies out what the tile
// writes. The kernel's unit works meanwhile. As many tiles are under way as the unit allows
// (pipeline_depth) and as the scratchpad has room for. Terms, in cycles of the model's clock:
//
//   operation    overhead, and the longer of
//                  operations / rate (of a systolic array: fill, steps and drain) and
//                  the operands' bytes over the ports of the scratchpad
//   bring        copy-in: for each tensor latency + bytes / bytes per cycle, one after the other.
//   take away    Copy-out likewise. Instances of the transfer unit work for several tiles at once,
//                together no faster than the buses
//   period       the longest of
//                  operation / instances (if they share a tile: over the whole tiles that run
//                  beside each other),
//                  bring, take away (their sum if one instance does both, or one bus carries both),
//                  the busiest port, and
//                  bring + operation + take away over the tiles under way
//                (if instances share a tile, and reads and writes share one port: operation and
//                bring as they are beside each other; each part and the transfer has a fair share
//                of the port, C6)
//   all          whole tensors, bring + operation + take away, and a period for each further tile
//
// If the tile cuts reductions, the tiles that add to one part of the result are the steps of one
// tile. The part of the result stays in the scratchpad until the last of them. What a step reads is
// copied in while steps before it are at work; steps_under_way are so at once. One after the other
// adds to the part, so that a tile's steps use one instance at a time. All of them take the time of
// one that reads the part; the first one takes no energy for that.
//   period       of a tile with steps: so many operations and copy-ins of a step; and
//                over the tiles under way: the first step's copy-in and operation, the longest of
//                operation, copy-in, (copy-in + operation) / steps_under_way, the busiest port for
//                each further one, and take away
//
// Which tensors come tile by tile is chosen by time: none of them if all fit into the scratchpad,
// or the largest, the two largest, and so on; and the same with temporaries last. The others are
// copied in once, as a whole; so are temporaries, for which that takes no time, since they stay in
// the scratchpad. If no tensor comes tile by tile, the kernel is one operation, or its tiles run on
// the instances beside each other, whichever takes less time. Source: the rules C1 to C9 of
// docs/semantics.md, with the tiles in step; the pass `schedule` stages as the marks of the tile
// say. A simulation of all tiles finds this time or a little more.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/cost/block/operation_pace.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/cost/search/tile_space.h"
#include "stria/cost/staged/kernel_shape.h"
#include "stria/cost/staged/spread_parts.h"
#include "stria/cost/staged/staged_rates.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct StagedTime {
  double tiles = 1;              // that differ in what they write, or all of them
  double steps = 1;              // of each; the tile cuts reductions
  int64_t under_way = 0;         // tiles at once
  int64_t steps_under_way = 1;   // of one tile
  std::vector<size_t> in_parts;  // positions of the views that are copied tile by tile
  // The terms of the table above; `whole`: transfers of the tensors that are copied as a whole.
  double operation = 0, bring = 0, take_away = 0, whole = 0;
  double period = 0;
  double cycles = 0;     // of all tiles; infinite: there is no room
  double energy_pj = 0;  // of transfers and operands
  // The cycles, and what it takes to bring temporaries back that were taken away, times a low power
  // of the energy: among tiles that take about as long, the one that takes the least energy is the
  // cheapest. Half the energy is worth 2% of the time.
  double cost = 0;
};

// What a view is a part of.
struct StagedTensor {
  int64_t bytes = 0;       // of all of it
  bool temporary = false;  // between kernels: if it fits, it stays in the scratchpad
  bool operator==(const StagedTensor&) const = default;
};

class StagedKernel {
 public:
  static constexpr size_t kMostViews = 64;
  // `tensors`: of each view (each refinement that is no allocation). The object borrows `rates`,
  // not the block. For one thread. unsupported: the unit has no rate for what the block does, or
  // the block has more views than kMostViews.
  static Result<StagedKernel> make(const stripe::Block& block, std::vector<StagedTensor> tensors,
                                   const StagedRates& rates);

  // May tiles cut reductions? Only if a part of the result may be kept as it is: in the type in
  // which sums are added up.
  bool may_cut_reductions() const;
  // The tiles that are worth looking at. Of several reductions only the longest is cut, unless no
  // tile has room for the others whole: to cut one is as good as to cut another, and tiles of all
  // sizes of all of them are many.
  Result<TileSpace> space(TileFilter filter) const;
  // A size for each index of `tiled_block(block)`.
  StagedTime time(const Tile& tile) const;
  // A tensor that finds no bank with enough bytes left, with one tile under way and every tensor
  // copied tile by tile that can be; nullopt: there is room.
  struct Missing {
    std::string view;
    double bytes = 0, left = 0;  // what it needs; what the emptiest bank has left
  };
  std::optional<Missing> missing(const Tile& tile) const;
  // Not above the cycles of any tile that is at least `low` and at most `high`, index by index.
  double bound(const Tile& low, const Tile& high) const;
  // Cycles of all instances, whatever the tile.
  double least_busy() const { return least_operation_ * rates_->unit_cycle / rates_->instances; }
  // One tile whose views all lie packed in the scratchpad, for whoever brings them: cycles from its
  // start to its end, of all instances, and of the busiest port; and how many parts of it use the
  // port at once.
  struct Alone {
    double takes = 0, busy = 0, port = 0, parts = 1;
  };
  // `goes_on`: it adds to what a tile before it has left.
  Alone alone(const Tile& tile, bool goes_on) const;
  // Of such a tile, by view and by port of the scratchpad: cycles in which operands move.
  void operand_cycles(const Tile& tile, bool goes_on, std::vector<double>& cycles) const;
  // alone() does not take less.
  double least_alone(const Tile& tile) const;
  // By view: a tile's bytes in the scratchpad, its bytes of whole lines, and cycles for which rows
  // of global memory are busy with it.
  void shown(const Tile& tile, std::vector<double>& held, std::vector<double>& moved,
             std::vector<double>& rows) const;
  const TiledBlock& tiled() const { return tiled_; }

 private:
  using ViewSet = std::bitset<kMostViews>;
  struct Move {
    double bytes = 0;  // moved: whole lines
    double held = 0;   // bytes in the scratchpad
    double whole = 0;  // bytes of the whole tensor
    // Cycles for which rows of global memory are busy with the tile, with the whole tensor.
    double rows = 0, whole_rows = 0;
    // By PortUse: bytes over the ports while the unit works, bank conflicts included.
    std::array<double, kPortUses> operand{};
    bool temporary = false;
    bool reads = false, writes = false;
  };
  // What a tile asks of the unit, whatever comes tile by tile.
  struct TileWork {
    double parts = 1, rounds = 1;        // of the tile; of parts on all instances
    double computes = 0;                 // cycles of one part
    std::vector<OperandBytes> bytes;     // by view: of one part
    std::vector<double> whole, in_part;  // by view: bank conflicts of the whole tensor, of a tile
  };
  // What the unit does for one tile.
  struct Operation {
    double takes = 0;  // cycles from its start to its end
    double busy = 0;   // cycles of all instances, as if parts of tiles filled them
    double port = 0;   // cycles of the busiest port, for the operands alone
    double parts = 1;  // of the tile
    double part_takes = 0, part_bytes = 0;  // cycles of one part alone, its bytes over the ports
  };

  StagedKernel(const stripe::Block& block, std::vector<StagedTensor> tensors,
               const StagedRates& rates);
  double lines(const Footprint& footprint) const;
  // Holds until the next call for another tile.
  const std::vector<Move>& moves(const Tile& tile) const;
  // How a tile's views come into the scratchpad.
  struct Staging {
    ViewSet in_parts;  // else as a whole, once
    ViewSet by_step;   // also anew in each step of a tile
    double tiles = 1, steps = 1;
    int64_t under_way = 1, steps_under_way = 1;
    // Bytes that are held at once.
    double held(const Move& move, size_t view) const;
  };
  // `in_parts` alone, one at a time.
  Staging in_tiles(ViewSet in_parts) const;
  const std::vector<size_t>& places(const std::vector<Move>& moves, const Staging& staging,
                                    Missing* missing = nullptr) const;
  double ports(const std::vector<Move>& moves, const std::vector<size_t>& banks,
               const ViewSet& transferred) const;
  // Cycles of the transfers of some views in one direction.
  struct Transfers {
    double in_a_row = 0;  // as one tile makes them, one after the other
    double beside = 0;    // on all instances of the transfer unit
    double busy = 0;      // of all these instances, of the bus, and of rows
    double rows = 0;      // of rows alone, which both directions share
  };
  Transfers transfers(const std::vector<Move>& moves, const ViewSet& which, bool writes,
                      bool whole) const;
  // Of one part of a tile, in cycles of the model's clock.
  double whole_cycles(const BlockWork& work) const;
  // `moves`: of the tile. Holds until the next call.
  const TileWork& work(const Tile& tile, const std::vector<Move>& moves) const;
  // Sets `operand` of each of `moves`.
  Operation operation(const TileWork& work, std::vector<Move>& moves, const Staging& staging,
                      const std::vector<size_t>& banks) const;
  // Sets operation, bring and take_away of `time` to what they are if all share one port.
  void share_port(const Operation& operation, StagedTime& time) const;
  // Sets under_way to the most tiles for which there is room; 0: none.
  void fill_room(const std::vector<Move>& moves, Staging& staging) const;
  // Nothing comes tile by tile. `moves`: those of a tile, of which there are so many.
  StagedTime all_in_scratchpad(double tiles, const TileWork& work,
                               const std::vector<Move>& moves) const;
  StagedTime tile_by_tile(const TileWork& work, const std::vector<Move>& moves,
                          const Staging& staging) const;
  // What the first tile waits for the copy-in of the next ones.
  double late_start(const std::vector<Move>& parts, const Staging& staging,
                    const StagedTime& time) const;
  // Bytes of a view that the unit reads and writes.
  struct Used {
    double read = 0, written = 0;
  };
  Used once(size_t view, double bytes) const;
  // Of `operations`, of which `first` start their sums.
  Used used(const TileWork& work, size_t view, double operations, double first) const;
  // Of copied tensors: `moved` bytes of each view altogether, `used` by the unit. In pJ.
  double energy(const std::vector<double>& moved, const std::vector<Used>& used) const;
  // What energy makes of a cost.
  double weighed(double cycles, double energy_pj) const;
  // Not above what the first copy-in and the last copy-out of any tile take that is at least `low`.
  double ends_bound(const Tile& low) const;
  // Not above the cycles of this tile. Raises `moved`, by view, to bytes that it moves at least.
  double tile_bound(const Tile& tile, std::vector<double>& moved) const;
  // Of each view, whether it moves from step to step of a tile that cuts reductions.
  ViewSet moved_by_steps(const Tile& tile) const;

  TiledBlock tiled_;
  mutable KernelShape shape_;
  SpreadViews views_;
  OperationPace pace_;
  // What the functions work on: memory is taken once.
  struct Places {
    std::vector<size_t> order;
    std::vector<double> need, left;
    std::vector<size_t> crowd, banks;
  };
  mutable Places places_;
  mutable std::vector<double> port_bytes_;
  mutable std::vector<Move> moves_;  // of the tile that was asked for last
  mutable Tile moves_of_;
  mutable KnownParts known_parts_;
  mutable TileWork work_;  // of the tile that was asked for last
  mutable Tile work_of_, part_;
  mutable std::vector<Move> parts_;    // of the staging that is looked at
  mutable std::vector<double> moved_;  // bytes of its views
  mutable std::vector<Used> used_;     // likewise
  std::vector<size_t> outputs_;        // tiled indices of what is written, by falling stride there
  std::vector<StagedTensor> tensors_;
  std::vector<std::vector<size_t>> orders_;  // in which views come tile by tile
  const StagedRates* rates_;
  double least_energy_ = 0;               // each tensor copied once, each operand used once; in pJ
  double least_operation_ = 0;            // of all points, in the unit's cycles without overhead
  double all_points_ = 1;                 // of the kernel
  std::vector<size_t> scratchpad_banks_;  // by view, if all tensors fit together; else empty
  StagedTime one_operation_;              // then the time without tiles, unless `spread`
};

// "[x:8, co:64]…": the terms in one line.
std::string to_string(const StagedTime& time);

}  // namespace stria::cost
