// SPDX-License-Identifier: Apache-2.0
// Stages kernels in a scratchpad: copies in what they work on, and copies results out.
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
// Tensors are copied whole, with dense strides, each into one bank. Statements are processed in
// their order. A tensor in the scratchpad stays until its bytes are needed. Then tensors without a
// further use are evicted first, and after them the one whose next use is last. A result is copied
// out after its last write if it is visible outside the block, and also when it is evicted and read
// later.
//
// A tensor gets the bytes that have been unused for longest, so that its transfer overlaps the
// kernels before. (If the unit of the kernel works on one point at a time, pipeline_depth 1, this
// does not matter.) Its bank is one that the units which work on it reach over the model's buses.
// Among these it is the one that holds the fewest other tensors of the kernel. Room is kept for
// what kernels themselves allocate in the scratchpad.
//
// Tensors that are tagged #tile_by_tile, and the largest if the tensors of a kernel do not fit
// together, are copied in parts (staged_kernel.h): each point of the kernel copies in what it reads
// and copies out what it writes. The kernel is tagged #pipeline with #tiles_under_way points, or as
// many as the instances of its unit have, so that the transfers of the next points overlap this
// point. Without parts, #tiles_under_way points use the instances beside each other. In a kernel
// that is tagged #steps_under_way, points that add to one part of a result become the steps of one
// point: a loop tagged #steps copies in what each of them reads, and the part is copied out once.
// The kernel must hold blocks: tiles that autotile has cut to the size of the memory. If the
// transfer unit is numbered, or there are steps, the kernel's own unit moves to its inner blocks.
//
// A tensor that several kernels write part by part is never copied before it is whole: either all
// of them work on it in the scratchpad, or each of them copies out exactly what it has written. If
// a point also needs what another kernel wrote, that is copied in first. What was chosen for the
// kernel with the most work decides, and room (kernel_stager.h).
//
// Dependencies are the fewest that suffice, those for reused bytes included. All of them point
// backward, so there is no deadlock. A tensor stays in global memory, and is counted with the
// reason, if it is read beyond its end, is used by statements that are no blocks, or is moved by
// the kernel's own transfers. Until a tensor is whole, a kernel that can do neither of the above
// writes it where it is. With `allow_global`, the largest tensors of a kernel that neither fits nor
// can be copied in parts stay there, too, until the rest fits.
//
// Requires: the block is `#prologue` or `#main`. Ensures: the same values; the program is #placed
// and legal as such. Runs after the kernels have their units, and before memory_placement, which
// may place other memories again.
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
  int64_t mem_KiB = 0;                       // KiB of a bank; 0 = the size of an instance
  int64_t alignment = 4;                     // bytes
  stripe::Location xfer_loc;                 // of the blocks that copy; none: not set
  bool allow_out_of_range_accesses = false;  // also copy in tensors that are read beyond their end
  int64_t num_banks = 1;                     // instances of the memory, from 0
  // If the scratchpad cannot hold a kernel's tensors together, the largest stays in global memory.
  // Without this option that is an error.
  bool allow_global = false;
  std::vector<std::string> swap_in_tags = {"swap_in"};    // of the blocks that copy in
  std::vector<std::string> swap_out_tags = {"swap_out"};  // of the blocks that copy out
};

void describe(ScheduleOptions& options, OptionFields& fields);
// not_found: the model does not have a unit, or its buses have no route. invalid_argument: a unit
// is of the wrong kind, or options contradict each other. out_of_range: there is not so much memory
// or so many banks, or a bus carries nothing. unsupported: the memory cannot hold the tensors of a
// kernel together.
Status schedule(stripe::Program& program, const ScheduleOptions& options, PassContext& context);

}  // namespace stria::passes
