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
// Here the last statement of a row, its store, runs in pieces between those of the statement of the
// next row that computes most: the host. How much a statement computes say the records of its
// functions (Cost, core/builtins); less than `min_instructions` for each element that is stored is
// not worth it. What the store reads and the next row writes too early, a maximum or a mean of the
// row, is copied first, if it is small.
//
// Requires, or the row stays as it is:
// - The rows are one plain loop, the kernel itself or inside it, and begin with the first. A point
//   of it may be several rows side by side.
// - Rows do not add up, and none is read where one is stored: each would wait for the one before.
// - Nothing but the store touches what it stores, and it writes nothing else. Other results are
//   written by the statements before it, those of the next row early.
// - Host and store loop over the same pieces in the same order, without a test for the last one; a
//   piece that is stored is no larger than one that is computed. Otherwise pieces would have to be
//   cut anew.
// - What the store reads of whole rows the host writes, piece by piece where the store has read it,
//   or a later statement. A copy of a whole row would cost what is to be gained.
// Ensures: the same values, each row's in the same order. Runs after stream_stores, which says what
// goes past the caches, and before prefetch, which looks at the loops as they are then.
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
  bool stream = true;                          // only stores past the caches
  // Of the host, for each element that is stored: one exponential is enough.
  int64_t min_instructions = 16;
};

void describe(DelayStoresOptions& options, OptionFields& fields);
Status delay_stores(stripe::Program& program, const DelayStoresOptions& options,
                    PassContext& context);

}  // namespace stria::passes
