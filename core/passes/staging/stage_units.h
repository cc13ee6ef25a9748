// SPDX-License-Identifier: Apache-2.0
// Gives each part of a block a unit of its own, with what it works on in the memory beside it; what
// several parts read comes to all of them at once.
//
//   #parts block [] (in<DRAM> A_0 = A[0], in<DRAM> B_0 = B[0], out<DRAM> C_0 = C[0],
//                    in<DRAM> A_1 = A[8], in<DRAM> B_1 = B[0], out<DRAM> C_1 = C[8]) {
//     0: #part=0 block (in A_0, in B_0, out C_0) { S }
//     1: #part=1 block (in A_1, in B_1, out C_1) { S }
//   }
//   #parts #deps block [] (…, none new<SRAM[0]> B_0_scratch, none new<SRAM[1]> B_1_scratch, …) {
//     0: #swap_in block<DMA> (in<DRAM> A_0, out<SRAM[0]> A_0_scratch) { copy }
//     1: #swap_in block<DMA> (in<DRAM> B_0, out<SRAM[0]> B_0_scratch, out<SRAM[1]> B_1_scratch) { copy }
//     2[0, 1]: #part=0 block<CONV[0]> (in A_0_scratch, in B_0_scratch, out C_0_scratch) { S }
//     3[2]: #swap_out block<DMA> (in<SRAM[0]> C_0_scratch, out<DRAM> C_0) { copy }
//     …
//   }
//
// Part p runs on unit p, in turns if there are more parts than units, beside the memory of the same
// number; blocks around name none any more. Inputs that cannot be fetched, and results that cannot
// grow near, stay far, counted with the reason. If the block is all that a loop does, points of the
// loop are under way at once, as many as the unit has (`pipeline_depth`) and the memory has room
// for. A block whose near tensors have no room at all stays as it is. Requires: a block of one
// point with one view for each part and tensor, as `unroll` with make_views leaves it behind
// partition_compute. Ensures: the same values; dependencies alone order the parts and transfers.
// Runs after locate_memory has said where tensors are, and before `schedule`, which places what is
// near here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct StageUnitsOptions {
  std::vector<std::string> reqs = {"parts"};  // tags that a block must have
  std::string part_name = "part";             // tag of its parts, the value their number
  std::string unit;                           // execution unit of the parts
  std::string memory;                         // memory unit beside it
  int64_t mem_KiB = 0;                        // of an instance; 0 = what the model gives one
  stripe::Location xfer_loc;                  // of the blocks that transfer; none: not set
  bool multicast = true;                      // what several parts read comes once
  stripe::Location share_loc;  // of the blocks that take it on to others; none: it comes to all
  std::vector<std::string> swap_in_tags = {"swap_in"};    // of the blocks that bring
  std::vector<std::string> swap_out_tags = {"swap_out"};  // of those that take away
};

void describe(StageUnitsOptions& options, OptionFields& fields);
// not_found or invalid_argument: units that the model has not, of the wrong kind or not named;
// out_of_range: more of an instance than it has.
Status stage_units(stripe::Program& program, const StageUnitsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
