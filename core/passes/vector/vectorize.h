// SPDX-License-Identifier: Apache-2.0
// Makes the points of one index the lanes of vector operations.
//
//   #kernel block [i:8, k:64] (in A[i, k], in B[k], out C[i]:add.fp32) { C += A * B }      16 lanes
//   #kernel block [i:8] (in A[i, 0], in B[0], out C[i], none new<REG> C_acc[0] fp32(16:1)) {
//     0: #vector block [lane:16] (out C_acc[lane]) { C_acc = store(0.0) }
//     1: block [k:4] (in A[0, 16*k], in B[16*k], inout C_acc[0]:add.fp32) {
//       0: #vector block [k:16] (in A[0, k], in B[k], inout C_acc[k]:add.fp32) { C_acc += A * B }
//     }
//     2: block [] (in C_acc[0], out C[0]) {
//       C = store(0.0)
//       #vector block [lane:16] (in C_acc[lane], inout C[0]:add.fp32) { C += C_acc }
//     }
//   }
//
// The innermost block becomes the lanes: it is tagged #vector and has one index. If there is a
// reduction inside, its running values get an accumulator (at `accumulator`) around the whole
// reduction, which is written out once. If the reduction itself is vectorised, the accumulator has
// one element for each lane.
//
// Requires: the kernel is a chain of blocks around one block of loads, stores and scalar
// statements. Ensures: the same values, except for the order of a reduction. Runs after autotile,
// whose innermost block becomes the lanes and whose outer blocks say where a reduction begins, and
// before thread, which splits what is left outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct VectorizeOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  // An index with fewer points gets no lanes; 0: the calibration of the model says.
  int64_t min_range = 0;
  // If the reduction is vectorised, the lanes may be several of the hardware's vectors, up to so
  // many lanes: an addition then need not wait for the one before. 0: one vector.
  int64_t reduction_lanes = 0;
  // A kernel that computes one of these functions and reduces nothing gets lanes of
  // `function_vectors` of the hardware's vectors, or as many as divide the range. Such a function
  // is a long chain of dependent operations, and the chains of several vectors overlap. The
  // pipeline names the functions, since it depends on the code generator: a library call gains
  // nothing, and must save the values of the second vector.
  std::vector<std::string> functions;
  int64_t function_vectors = 1;
  // Memory unit of accumulators; "" = no location. If they need more vector registers than the
  // model has, they get no location either.
  std::string accumulator = "REG";
  // Tag of the block inside which accumulators live. Reductions around it add to memory, if that
  // holds the aggregation type. "", or no such block: they live around the whole reduction.
  std::string reduction_inside;
  // Tags for the blocks around lanes that do not loop over a reduction: `unroll` may unroll them.
  std::vector<std::string> tile_set = {"register_tile"};
};

void describe(VectorizeOptions& options, OptionFields& fields);
Status vectorize(stripe::Program& program, const VectorizeOptions& options, PassContext& context);

}  // namespace stria::passes
