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
// Requires: kernels that are chains of blocks around one block of loads, stores and scalar
// statements. Ensures: that innermost block is tagged #vector and has one index; where a reduction
// is inside, its running values are a new refinement (`location`) around the whole reduction, one
// per lane if the reduction itself is vectorised, written out once. Values change only by the order
// of a reduction. Runs after autotile, whose innermost block it turns into lanes and whose outer
// blocks say where a reduction begins, and before thread, which splits what is left outside.
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
  int64_t min_range = 4;                       // shorter indices are left scalar
  // Lanes that are partial results may be several of the hardware's vectors, up to so many lanes:
  // one addition then does not wait for the one before. 0: one vector.
  int64_t reduction_lanes = 0;
  // Kernels that compute one of these functions and reduce nothing get lanes of so many of the
  // hardware's vectors, or as many as divide the range: the long chain of operations for one vector
  // waits for its own results, those of several side by side do not. Which functions are such
  // chains says the pipeline, for it depends on the code generator: a call of a library waits for
  // nothing, and loses the values of the second vector.
  std::vector<std::string> functions;
  int64_t function_vectors = 1;
  // Where running values live; "" = no location. More of them than the model has vector registers
  // get no location either.
  std::string accumulator = "REG";
  // Tag of the block inside which running values live: what is reduced around it adds to memory,
  // if that holds the running type. "", or no such block: around the whole reduction.
  std::string reduction_inside;
  // Tags for the blocks around lanes that do not loop over a reduction: what `unroll` may unroll.
  std::vector<std::string> tile_set = {"register_tile"};
};

void describe(VectorizeOptions& options, OptionFields& fields);
Status vectorize(stripe::Program& program, const VectorizeOptions& options, PassContext& context);

}  // namespace stria::passes
