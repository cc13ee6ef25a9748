// SPDX-License-Identifier: Apache-2.0
// Brings what kernels work on into a scratchpad, and results back.
//
//   #main block [] (in<DRAM> A, out<DRAM> C, none new<DRAM> T) {   mem_loc: SRAM, xfer_loc: DMA
//     0: block<CONV> (in A, out T) { f }
//     1: block<CONV> (in T, out C) { g }
//   }
//   #main #deps block [] (in<DRAM> A, out<DRAM> C, none new@0x0<SRAM> An,
//       none new@0x40<SRAM> Tn, none new@0x0<SRAM> Cn) {
//     0: #swap_in block<DMA> (in A, out An) { copy }
//     1[0]: block<CONV> (in An, out Tn) { f }
//     2[1]: block<CONV> (in Tn, out Cn) { g }
//     3[2]: #swap_out block<DMA> (in Cn, out C) { copy }
//   }
//
// Tensors come whole, with natural strides, each into one bank. Statements are taken in their
// order. One that is near stays until its bytes are needed; then what has no further use goes
// first, after that what is used last. Results go back after their last write if the block's
// outside sees them, or when they have to make room and are read later. Unless the unit of a kernel
// works on one point at a time (pipeline_depth 1), a tensor takes the bytes that have been left
// alone for longest, so that its transfer runs beside the kernels before. Its bank is one that the
// units which work on it reach over the model's buses, and has the fewest of what the kernel works
// on besides. What kernels allocate in the scratchpad themselves has room kept for it.
//
// Where the tensors of a kernel do not fit together, the largest come in parts (staged_kernel.h):
// each point of the kernel brings what it touches and takes away what it writes, and the kernel is
// #pipeline with as many points under way as its unit has, so that the transfers of the next point
// run beside this one. That asks for a kernel of blocks: tiles that autotile has cut to the memory.
// With a numbered transfer unit the kernel's own unit goes to its blocks.
//
// Dependencies are the fewest that are enough, those for bytes used again among them; all point
// backward, so that nothing can block. A tensor that is read beyond its end, written in parts only,
// touched by statements that are no blocks, or moved by the kernel's own transfers stays where it
// is, counted with the reason; with `allow_global` so does the largest tensor of a kernel that neither
// fits nor comes in parts, as many of them as it takes. Requires: `#prologue` or `#main`. Ensures:
// the same values; the program is #placed and legal as such. Runs after the kernels have their
// units, and before memory_placement, which may place other memories again.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ScheduleOptions {
  std::vector<std::string> reqs = {"main"};  // tags that a block must have
  stripe::Location mem_loc;                  // scratchpad
  int64_t mem_KiB = 0;                       // of a bank; 0 = what the model gives one instance
  int64_t alignment = 4;                     // bytes
  stripe::Location xfer_loc;                 // of the blocks that transfer; none: not set
  bool allow_out_of_range_accesses = false;  // bring what is read beyond its end, too
  int64_t num_banks = 1;                     // instances of the memory, from 0
  // Where a kernel's tensors cannot be near together, the largest stays far instead of an error.
  bool allow_global = false;
  std::vector<std::string> swap_in_tags = {"swap_in"};    // of the blocks that bring
  std::vector<std::string> swap_out_tags = {"swap_out"};  // of those that take away
};

void describe(ScheduleOptions& options, OptionFields& fields);
// not_found: units that the model has not, or no route of its buses; invalid_argument: units of the
// wrong kind, or contradictory options; out_of_range: more memory or banks than there are, or a bus
// that carries nothing; unsupported: a kernel whose tensors the memory cannot hold together.
Status schedule(stripe::Program& program, const ScheduleOptions& options, PassContext& context);

}  // namespace stria::passes
