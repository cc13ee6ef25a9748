// SPDX-License-Identifier: Apache-2.0
// Stores the results of one row while the next row is computed, so that memory writes while the
// core works.
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
// Some statements of a row keep the core busy, and others the memory. The last statement of a row,
// its store, runs here in pieces between the pieces of another statement: the one of the next row
// that computes most, which is called the host. The records of functions say how much a statement
// computes (Cost, core/builtins). With less than `min_instructions` for each stored element the
// change does not pay. If the next row writes too early what the store reads, such as a maximum or
// a mean of the row, that value is copied first, if it is small.
//
// Requires these conditions; otherwise the row stays as it is:
//
// - The rows are one plain loop, which is the kernel itself or inside it, and which begins with the
// first row. One point of the loop may be several rows side by side.
// - Rows do not aggregate into each other, and no row is read where one is stored. Otherwise each
// row would wait for the one before.
// - Only the store touches what it stores, and it writes nothing else. Other results are written by
// the statements before it, so those of the next row are written early.
// - Host and store loop over the same pieces in the same order, without a test for the last piece.
// A stored piece is no larger than a computed one. Otherwise pieces would have to be cut again.
// - What the store reads of a whole row is written by the host, piece by piece after the store has
// read it, or by a later statement. A copy of a whole row would cost as much as the change gains.
//
// Ensures: the same values, and those of each row in the same order. Runs after stream_stores,
// which says which stores bypass the caches, and before prefetch, which needs the final loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DelayStoresOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  bool stream = true;                          // only stores that bypass the caches
  // Instructions of the host for each element that is stored, at least; -1: the calibration of the
  // model says. One exponential is enough.
  int64_t min_instructions = -1;
};

void describe(DelayStoresOptions& options, OptionFields& fields);
Status delay_stores(stripe::Program& program, const DelayStoresOptions& options,
                    PassContext& context);

}  // namespace stria::passes
