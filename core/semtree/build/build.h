// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> kernel tree: one kernel block becomes one function. The rules of meaning that
// emitters would otherwise each have to get right are applied here: clamped loop bounds, guards,
// masks, index arithmetic, integer division, NaN, conversions, aggregation. The translation is
// mechanical: it spells out what blocks, tags and locations say, and chooses nothing.
//
// How constructs translate:
// * *Parallel indices* of the kernel block (docs/semantics.md S2) become the function's parallel
//   variable. Points that add to one element take turns: their indices become loops.
// * *Blocks* become loop nests; an index of range 1 is substituted. A constraint that involves the
//   innermost index of its block clips that loop's bounds. Others become conditions, moved out of
//   every loop that they do not depend on. So do those of a short #unroll_hint loop whose bounds
//   would differ from lane to lane: it keeps constant bounds, and each point is tested.
// * *#unroll* blocks are written out point by point, with their indices as constants. Loops of
//   *#unroll_hint* blocks carry a hint that unrolling pays.
// * *#vector* blocks without inner blocks become vector operations. Stride 1 is contiguous. Stride
//   0 is one element for all lanes; a store with an aggregation then reduces over the lanes. Other
//   strides gather and scatter. Constraints on the lane are masks. Any other #vector block becomes
//   a loop over its lanes.
// * *Chosen coordinates* are clamped in loads and tested in stores: once for all lanes, or, if the
//   scalar has lanes, for each lane.
// * *#zero_fill*: a load that lies outside reads element 0 and gives 0; with lanes, masks do that.
//   *#clamp*: the address is moved into the allocation (S10).
// * *Lane blocks* (S11) make each point of the kernel a group of lanes. The groups' indices are
//   packed into the dimensions of a grid, so that groups keep their order: the fastest ones into
//   the first dimension, and as many as possible get a dimension of their own. An index in the
//   location is a digit of the lane's number. Lanes without a point skip the block. `special
//   barrier` is a barrier. The group shares what is allocated around lane blocks. A distributed
//   allocation (S12) is an array of each lane; the bit form of its location gives the slot. A
//   #stencil block on distributed operands is one instruction (S14).
// * *Blocks for whole subgroups* number rows of the group's lanes. A #stencil block in one, on
//   allocations that give the number of a `fragment`, is an operation on matrices (S15).
// * *#micro_kernel* blocks (S21) become calls if the emitter's plugin has such functions, else the
//   loops that they mean.
// * *#pipeline=N* on a loop of a group (S13) makes N copies of what the loop allocates: `barrier;
//   for k { what stands before the first barrier, for k+N-1; the rest, for k; barrier }`. A
//   statement that contains the first barrier belongs to the rest. Points that constraints leave
//   out meet the loop's barrier, too. With the tag #hold the first part is split, if it consists of
//   loads and stores alone, whatever their conditions: `for k { the loads, for k+N-1; barrier; the
//   rest, for k; the stores, for k+N-1 }`. So the rest hides the latency of the loads. With the tag
//   #one_copy, N is 2, and lanes hold what they have loaded until the rest is done: `for k { the
//   loads, for k+1; the rest, for k; barrier; the stores, for k+1; barrier }` needs one copy. A
//   #pipeline loop elsewhere, or one without a barrier, runs its points one after the other.
// * *Swizzles* permute the addresses of an allocation. Lanes of one access must be a run that stays
//   together.
// * *Allocations* become arrays. What lanes share has one array for all allocations whose bytes
//   overlap (#placed). Lanes hold distributed ones in registers. Others are in registers if the
//   peephole register_arrays makes them variables: they are located in the unit `register_unit`,
//   and every subscript is constant after unrolling. Otherwise they are on the stack.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "stria/base/status.h"
#include "stria/semtree/peephole/peepholes.h"
#include "stria/semtree/tree/tree.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

// What is read here are properties of a language, a driver or a device. Nothing is chosen.
struct BuildOptions {
  DataType index_type = DataType::i64;  // i32 or i64; with i32, larger numbers fail
  bool narrow_indices = false;          // use i32 if no index, offset or bound of a kernel can
                                        // leave it
  std::string register_unit = "REG";    // the memory unit whose allocations are registers
  // Subgroups of a group's lanes, which hold matrices together; 0: the emitter knows no such
  // operations.
  std::string subgroup_unit = "SUBGROUP";
  int64_t subgroup_lanes = 0;
  // The most groups of lanes in each dimension of their grid. If the others have 1, the first
  // dimension alone numbers all groups.
  std::array<int64_t, 3> largest_grid = {INT64_MAX, 1, 1};
  int64_t stack_limit_bytes = 256 * 1024;      // of all allocations of a kernel outside registers
  int64_t unrolled_statement_limit = 1 << 17;  // statements of a function, after unrolling
  int max_lanes = 64;                          // wider #vector blocks run as loops
  bool only_powers_of_two_lanes = false;       // #vector blocks of 3, 5, 6, … lanes do so too
  // The emitter can load one lane of each of several slots of an array in registers (tree.h,
  // Array).
  bool loads_across_slots = false;
  // The emitter can call functions of its plugin: #micro_kernel blocks become calls, outside of
  // groups of lanes.
  bool micro_kernels = false;
  // The emitter's plugin adds KernelArgument::offset_bytes to the address of an argument. Then
  // kernels that differ in where their views begin, as the steps of a recurrence do, are one.
  bool argument_offsets = false;
  // Loads of single elements in a row, from memory that a group shares, become one load of a vector
  // of so many bytes; repeated loads are dropped if nothing may write the elements in between. 0:
  // loads stay as they are.
  int64_t shared_vector_bytes = 0;
  Peepholes peepholes;
};

// `main` is the block that holds `kernel` (#main or #prologue). The program must have passed the
// verifier. Fails with `unsupported` or `out_of_range`, naming block, refinement and limit.
Result<Function> build(const stripe::Block& kernel, const stripe::Block& main,
                       const BuildOptions& options = {});

}  // namespace stria::semtree
