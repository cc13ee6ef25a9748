// SPDX-License-Identifier: Apache-2.0
// Makes one kernel of neighbouring kernels that write parts of one tensor. For small parts, a
// launch and the compilation of a kernel cost more than its work.
//
//   0: #kernel #piece block [i:4] (in A[i], out R[i]) { copy }
//   1: #kernel #piece block [i:6] (in B[i], out R[4 + i]) { copy }
//
//   0: #kernel #pieces block [p:6] (in A[p], in B[p], out R[p], out R_0 = R[4 + p]) {    parts: 0
//     0: block [p:1 = p] (3 - p >= 0; in A[0], out R[0]) { copy }
//     1: block [] (in B[0], out R = R_0[0]) { copy }
//   }
//
//   0: #kernel #pieces block [] (in A[0], in B[0], out R[0], out R_0 = R[4]) {           parts: 1
//     0: block [i:4] (in A[i], out R[i]) { copy }
//     1: block [i:6] (in B[i], out R = R_0[i]) { copy }
//   }
//
// Requires: each kernel (a piece) writes only the one tensor, and each of its elements once. No
// piece writes an element of another one, or what another one reads. Statements between the pieces
// are moved before the joined kernel; they must not touch the tensor, nor write what the pieces
// read. Ensures: the same values. With `parts` of 0 it runs before lanes are chosen: each point of
// the joined kernel then does one point of each piece. Otherwise it runs after vectorize, and the
// pieces keep their loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct JoinPiecesOptions {
  std::vector<std::string> reqs = {"kernel", "piece"};  // tags of the pieces
  std::vector<std::string> set_tags = {"pieces"};       // tags of the joined kernel
  int64_t parts = 1;  // into which each piece is cut; 0 = into its points
  // Statements that run; pieces of a kernel with fewer are not cut. -1: the calibration says.
  int64_t min_work = 0;
  int64_t max_refs = 32;         // views of tensors that the joined kernel has, at most
  int64_t max_statements = 512;  // of the joined kernel, without blocks, at most
};

void describe(JoinPiecesOptions& options, OptionFields& fields);
Status join_pieces(stripe::Program& program, const JoinPiecesOptions& options,
                   PassContext& context);

}  // namespace stria::passes
