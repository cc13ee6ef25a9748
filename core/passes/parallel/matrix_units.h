// SPDX-License-Identifier: Apache-2.0
// Gives the tile of a group to subgroups, which hold it as matrices and multiply these.
//
//   #group #matrix block [m:8, n:8] (…, none new C_acc[0, 0] fp32(128:128, 128:1)) {
//     0: block [m:128, n:128] (out C_acc[m, n]) { identity }
//     1: #steps block [k:8] (…, none new<LOCAL> A_scratch, none new<LOCAL> B_scratch) {
//       0: #copy block …   1: #copy block …
//       2: #tile #fragments="name" block [m:128, n:128, k:32] (
//              in A = A_scratch[m, k], in B = B_scratch[k, n], inout C_acc[m, n]:add.fp32) { S }
//     }
//     2: block [m:128, n:128] (in C_acc[m, n], out C[m, n]) { S }
//   }
//
//   C_acc<MATRIX(subgroup = 2*d0[6+:1] + d1[6+:1], fragment = 4*d0[4+:2] + d1[4+:2])>
//       2: block<SUBGROUP[2*m + n]> [m:2, n:2] (…) {
//         0: #unroll block [k:2] (…, none new<MATRIX(fragment = d0[4+:2])> A_matrix[0, 0]) {
//           0: #unroll block [m:4] (…) { 0: #stencil="elements" block [m:16, k:16] { load } }
//           1: #unroll block [n:4] (…, none new<MATRIX(fragment = 0)> B_matrix[0, 0]) {
//             0: #stencil="elements" block [k:16, n:16] { load }
//             1: #unroll block [m:4] (…) { 0: #stencil="name" block [m:16, n:16, k:16] { S } }
//   } } }
//     2: block<SUBGROUP[2*m + n]> [m:2, n:2] (…) {
//       0: #unroll block [m:4, n:4] (…) { 0: #stencil="elements" block [m:16, n:16] { S } } }
//
// So all that touches the group's sums runs on whole matrices: the start, the products, what
// follows. The right operand's matrices are loaded one by one, each just before it is used, so that
// few registers hold them.
//
// Where the last tile goes beyond the end of rows or columns, its matrices are whole all the same.
// Only stencils between matrices and tensors keep the constraints.
//
// Requires: the group comes from matrix_groups; stage_operands has staged its operands, and its
// sums are in an accumulator. What follows the product is tagged by matrix_groups. Ensures: the
// same values. Runs after agg_init and before thread_lanes, which leaves these blocks as they are.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct MatrixUnitsOptions {
  std::vector<std::string> reqs = {"group", "matrix"};  // tags that a block must have
  std::string unit = "SUBGROUP";                        // execution unit that multiplies matrices
  std::string memory = "MATRIX";  // memory unit of matrices that a subgroup holds
};

void describe(MatrixUnitsOptions& options, OptionFields& fields);
// not_found if the model has units but not these; unsupported if a group is not as required.
Status matrix_units(stripe::Program& program, const MatrixUnitsOptions& options,
                    PassContext& context);

}  // namespace stria::passes
