// SPDX-License-Identifier: Apache-2.0
// Stores the results of one row while the next row is calculated: memory writes while the core
// works.
//
//   #kernel block [c:8] (in A…, out O…) {
//     0: block [i:64] (in A[i, 0] …, out O[i, 0] …, none new E[0] fp32(512:1), none new S[0] …) {
//       0: block [j:16] (in A…, out E[32*j] …) { exp }
//       1: a sum of E into S
//       2: block [j:32] (in E[16*j] …, in S, #stream out O…) { E / S }
//     }
//   }
//   #kernel block [c:8] (in A…, out O…, none new E[0] fp32(512:1), none new S[0] …) {
//     0: block [] (in A[0, 0] …, out E…, out S…) { exp and sum of the first row }
//     1: block [i:64] (in A[1 + i, 0] …, out O[i, 0] …, inout E[0] …, inout S[0] …) {
//       0: block [j:16, i:1 = i] (…) {
//         0: #unroll block [j:2] (in E…, in S, #stream out O…) { E / S }
//         1: block [i:1 = i] (62 - i >= 0; …) { exp }
//       }
//       1: block [i:1 = i] (62 - i >= 0; …) { 0: a sum of E into S }
//     }
//   }
//
// A row that is worked on in several passes over it uses the core in some and memory in others.
// Here the last statement of a row, which stores past the caches, runs in pieces between those
// of the statement of the next row that calculates most, one of `functions`. Requires: rows in a
// loop inside a kernel (a point of it may be several rows side by side); both statements loop
// over the same pieces in the same order; what is handed from the row to its store is not
// written before that statement, and there piece by piece where the store has read it. Ensures:
// the same values, each row's in the same order. Runs after stream_stores, which says what goes
// past the caches, and before prefetch_next.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DelayStoresOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  // The statement of the next row that the store goes with computes one of them.
  std::vector<std::string> functions = {"exp", "tanh"};
  bool stream = true;  // only stores past the caches
};

void describe(DelayStoresOptions& options, OptionFields& fields);
Status delay_stores(stripe::Program& program, const DelayStoresOptions& options,
                    PassContext& context);

}  // namespace stria::passes
