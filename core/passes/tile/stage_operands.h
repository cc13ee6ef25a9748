// SPDX-License-Identifier: Apache-2.0
// Stages the operands of a product of matrices: lanes compute each element of a factor once, where
// it is stored for all of them.
//
//   #matrix_steps block [k:8] (in A[0, 32*k], in S[32*k], in B[32*k, 0], inout C[0, 0]) {
//     0: #tile #fragments="name" block [m:128, n:128, k:32] (
//            in A[m, k], in S[k], in B[k, n], inout C[m, n]:add.fp32) {
//       … $l = mul.fp16($a, $s) … $c = mul.fp32($l, $b); C = store($c)
//     }
//   }
//   #matrix_steps block [k:8] (…, none new<LOCAL> A_scratch, none new<LOCAL> B_scratch) {
//     0: #copy block [m:128, k:32] (in A[m, k], in S[k], out<LOCAL> A_scratch[m, k]) {
//       … $l = mul.fp16($a, $s); A_scratch = store($l)
//     }
//     1: #copy block [k:32, n:128] (in B[k, n], out<LOCAL> B_scratch[k, n]) { copy }
//     2: #tile #fragments="name" block [m:128, n:128, k:32] (
//            in A = A_scratch[m, k], in B = B_scratch[k, n], inout C[m, n]:add.fp32) {
//       $l = load(A); $b = load(B); $c = mul.fp32($l, $b); C = store($c)
//     }
//   }
//
// What is staged has the type of the instruction's operand. Its dimensions lie as in the tensor of
// which the factor is made. Rows are longer by one vector, so that neighbouring rows begin in
// different banks.
//
// Where the last tile goes beyond the end of the depth, zeros are staged: the block that stages
// reads them from beyond the tensor (#zero_fill), or selects them. Beyond the end of rows or
// columns anything is staged. The tile keeps its constraints.
//
// Requires: a block that holds nothing but a tile of matrix_groups. Ensures: the same values. Runs
// after autotile has made a loop over the steps, and before matrix_units, which loads matrices from
// there, and thread_lanes, which spreads the copies over lanes.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct StageOperandsOptions {
  std::vector<std::string> reqs = {"matrix_steps"};  // tags that a block must have
  std::string unit = "SUBGROUP";                     // execution unit that multiplies matrices
  stripe::Location loc;                              // of what is staged: memory units
  std::vector<std::string> copy_set = {"copy"};      // tags of the blocks that stage
};

void describe(StageOperandsOptions& options, OptionFields& fields);
// not_found if the model has units but not these; unsupported if a block is not as required.
Status stage_operands(stripe::Program& program, const StageOperandsOptions& options,
                      PassContext& context);

}  // namespace stria::passes
