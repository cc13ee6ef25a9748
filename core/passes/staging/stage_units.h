// SPDX-License-Identifier: Apache-2.0
// Gives each part of a block a unit of its own, and copies what the part works on into the memory
// beside that unit. What several parts read is copied to all of them at once.
//
//   #parts block [] (in<DRAM> A_0 = A[0], in<DRAM> B_0 = B[0], out<DRAM> C_0 = C[0],
//                    in<DRAM> A_1 = A[8], in<DRAM> B_1 = B[0], out<DRAM> C_1 = C[8]) {
//     0: #part=0 block (in A_0, in B_0, out C_0) { S }
//     1: #part=1 block (in A_1, in B_1, out C_1) { S }
//   }
//   #parts #deps block [] (…, none new<SRAM[0]> B_0_scratch, none new<SRAM[1]> B_1_scratch, …) {
//     0: #swap_in block<DMA> (in<DRAM> A_0, out<SRAM[0]> A_0_scratch) { copy }
//     1: #swap_in block<DMA> (in<DRAM> B_0, out<SRAM[0]> B_0_scratch, out<SRAM[1]> B_1_scratch) …
//     2[0, 1]: #part=0 block<CONV[0]> (in A_0_scratch, in B_0_scratch, out C_0_scratch) { S }
//     3[2]: #swap_out block<DMA> (in<SRAM[0]> C_0_scratch, out<DRAM> C_0) { copy }
//     …
//   }
//
// Part p runs on unit p, beside the memory instance of the same number. If there are more parts
// than units, the units take turns. Blocks around lose their locations. An input that cannot be
// copied in stays in global memory and is counted with the reason. If a result cannot be staged,
// the block stays as it is; so does a block whose staged tensors do not fit. If the block is all
// that a loop does, points of the loop overlap: as many as the unit has under way
// (`pipeline_depth`) and the memory has room for.
//
// Requires: a block of one point with one view for each part and tensor, as `unroll` with
// make_views leaves it after partition_compute. Ensures: the same values; dependencies alone order
// the parts and transfers. Runs after locate_memory, which says where tensors are, and before
// `schedule`, which gives the buffers made here their places.
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
  std::string part_name = "part";             // tag of its parts, whose value is their number
  std::string unit;                           // execution unit of the parts
  std::string memory;                         // memory unit beside it
  int64_t mem_KiB = 0;                        // KiB of an instance; 0 = what the model gives one
  stripe::Location xfer_loc;                  // of the blocks that copy; none: not set
  bool multicast = true;                      // what several parts read is copied in one transfer
  // Of the blocks that copy it from the first memory to the others; none: one transfer has all of
  // them as targets.
  stripe::Location share_loc;
  std::vector<std::string> swap_in_tags = {"swap_in"};    // of the blocks that copy in
  std::vector<std::string> swap_out_tags = {"swap_out"};  // of the blocks that copy out
};

void describe(StageUnitsOptions& options, OptionFields& fields);
// not_found or invalid_argument: a unit is not in the model, of the wrong kind, or not given.
// out_of_range: an instance is not so large.
Status stage_units(stripe::Program& program, const StageUnitsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
