// SPDX-License-Identifier: Apache-2.0
// Asks memory, while the reduction of a tile runs, for what the tile's epilogue reads and writes.
//
//   block [x:4] (none new<REG> S[0, 0] …, in R[14*x, 0] fp32(14:256, 32:1), out O[14*x, 0] …) {
//     0: block [] (…) { … 1: #tile block [c:64] (in A…, in B…, inout S_acc…) { a step } … }
//     1: #eltwise block [x:14, k:2] (in S, in R, out O) { O = max(S + R, 0) }
//   }
//     … 1: #tile block [c:16] (in A…, in B…, inout S_acc…, in R[0, 0], out O[0, 0]) {
//       0: block [c:1 = c] (13 - c >= 0; #fetch in R[c, 0] fp32(1:256, 32:1),
//                           #fetch out O[c, 0] fp32(1:256, 32:1)) {}
//       1: block [c:4] (in A…, in B…, inout S_acc…) { a step }
//     }
//
// Rows of a tile lie too far apart for the processor to guess them, and all asked for at once they
// wait for each other. So the reduction asks for one after the other; not at edges, where its steps
// test which of them the tile has. Requires: nothing. Ensures: a view that is marked #fetch and
// used by no statement changes no value; emitters may pass it over, and what of it lies beyond the
// tensor is asked for, not read. Points run in the same order. Runs last, after stream_stores,
// whose results are not fetched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PrefetchTileOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string loop = "tile";                   // tag of the reduction's loop
  std::string memory = "L2";                   // memory unit of the model
  int64_t percent = 5;  // of one instance of it: a tensor that is smaller stays near
};

void describe(PrefetchTileOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status prefetch_tile(stripe::Program& program, const PrefetchTileOptions& options,
                     PassContext& context);

}  // namespace stria::passes
