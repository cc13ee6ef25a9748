// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> kernel tree: one kernel block becomes one function. All rules of meaning that
// emitters would otherwise each get wrong are applied here: clamped loop bounds, guards, masks,
// index arithmetic, integer division, NaN, conversions, aggregation. Mechanical: what the blocks,
// tags and locations say is spelled out, nothing is chosen.
//
// How constructs translate:
// * Indices of the kernel block that are parallel (docs/semantics.md S2) become the function's
//   parallel variable, leading ones first until there are enough points; the others become loops.
// * Blocks become loop nests; an index of range 1 is substituted. A constraint that involves the
//   innermost index of its block clips that loop's bounds; others become conditions, moved out of
//   every loop they do not depend on.
// * #unroll blocks are written out point by point with their indices as constants; loops of
//   #unroll_hint blocks say that it pays.
// * #vector blocks without inner blocks become vector operations: stride 1 is contiguous, 0 is one
//   element for all lanes (a store with an aggregation reduces over the lanes), others gather and
//   scatter; constraints on the lane are masks. A coordinate that a scalar chooses is clamped
//   (load) or tested (store), one for all lanes or, with lanes of scalars, each on its own.
//   Otherwise the tag changes nothing and lanes are a loop.
// * A load through #zero_fill reads element 0 where it lies outside, and gives 0 there; lanes are
//   masks. Through #clamp its address is moved into the allocation (S10).
// * Lane blocks (S11) make the kernel's points groups of lanes. The groups' indices are packed into
//   the dimensions of a grid, the fastest ones into the first, as many as possible into one of
//   their own: groups keep their order. An index in the location is a digit of the lane's number,
//   lanes without a point skip the block, `special barrier` is a barrier. What is allocated around
//   lane blocks is shared by the group; a distributed allocation (S12) is an array of each lane,
//   whose slot the location's bit form gives. A #stencil block on distributed operands is one
//   instruction (S14).
// * A #pipeline=N loop of a group (S13) has N copies of what it allocates: `barrier; for k { what
//   stands before the first barrier, for k+N-1; the rest, for k; barrier }`. A statement that has
//   the first barrier inside is of the rest. Points that constraints leave out meet the loop's
//   barrier, too. Elsewhere, and without any barrier, points run one after the other. What is
//   fetched by loads and stores alone, whatever their conditions, is taken apart: `for k { the
//   loads, for k+N-1; barrier; the rest, for k; the stores, for k+N-1 }`, so that the rest hides
//   how long the loads take.
// * A swizzled allocation's addresses are permuted; lanes must be a run that stays together.
// * Allocations become arrays: in registers if located in the unit `register_unit` and every
//   subscript is constant after unrolling, else on the stack.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

struct BuildOptions {
  DataType index_type = DataType::i64;  // i32 or i64; with i32, what it cannot count fails
  bool narrow_indices = false;          // i32 instead for kernels in which no index, offset or
                                        // bound can leave it
  std::string register_unit = "REG";    // the memory unit whose allocations are registers
  int64_t enough_parallel_points = 128;
  // The most groups of lanes in each dimension of their grid. Numbers of groups are told apart by
  // the first dimension alone if the others have 1.
  std::array<int64_t, 3> largest_grid = {INT64_MAX, 1, 1};
  int64_t stack_limit_bytes = 256 * 1024;      // of all allocations of a kernel outside registers
  int64_t unrolled_statement_limit = 1 << 17;  // of the function, each unrolled one counted
  int max_lanes = 64;                          // wider #vector blocks run as loops
  bool only_powers_of_two_lanes = false;       // so do those of 3, 5, 6, …
  // The emitter can load one lane of each of several slots of an array in registers (tree.h,
  // Array).
  bool loads_across_slots = false;
  // Single elements in a row of what a group shares are loaded as one vector of so many bytes, and
  // once where nothing may write them in between; 0: as they stand.
  int64_t shared_vector_bytes = 0;
};

// `main` is the block that holds `kernel` (#main or #prologue). The program must have passed the
// verifier. Fails with `unsupported` or `out_of_range`, naming block, refinement and limit.
Result<Function> build(const stripe::Block& kernel, const stripe::Block& main,
                       const BuildOptions& options = {});

}  // namespace stria::semtree
