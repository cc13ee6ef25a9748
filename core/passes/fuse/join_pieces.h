// SPDX-License-Identifier: Apache-2.0
// Makes one kernel of neighbours that write parts of one tensor: each launch, and each kernel that
// a driver compiles, costs more than many a part.
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
// Requires: kernels that write the one tensor only, each element once, none an element of another
// or what another reads; statements between them that neither touch the tensor nor write what they
// read come before the joined kernel. Ensures: the same values. Runs where pieces are what the
// machine runs: with `parts` of 0 before lanes or items are chosen, each point of the joined kernel
// does one of each piece; else after vectorize, and the pieces keep their loops.
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
  int64_t parts = 1;             // into which each piece is cut; 0 = its points
  int64_t min_work = 0;          // statements run; a joined kernel with less is not cut
  int64_t max_refs = 32;         // views of tensors that the joined kernel has, at most
  int64_t max_statements = 512;  // that are no blocks, at most
};

void describe(JoinPiecesOptions& options, OptionFields& fields);
Status join_pieces(stripe::Program& program, const JoinPiecesOptions& options,
                   PassContext& context);

}  // namespace stria::passes
