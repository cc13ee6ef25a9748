// SPDX-License-Identifier: Apache-2.0
// Spreads a scatter over the cores by the owner-computes rule. The kernel adds to rows that scalars
// choose. Each core owns a range of the rows, reads all indices, and stores only what falls into
// its range.
//
//   #kernel #scatter block [n:1000] (in E[n], in I[n], inout V[0]:add.fp32 fp32(64:1)) {    2 cores
//     0: $i = load(I)   1: $e = load(E)   2: V[$i] = store($e)
//   }
//   #kernel #parallel #scatter block<CORE> [part:2] (…, inout V[32*part]:add.fp32 fp32(32:1)) {
//     0: block [n:1000, part:1 = part] (in E[n], in I[n], inout V[0]:add.fp32 fp32(32:1)) {
//       … 2: $first = load_index.i64(32*part)   3: $own = sub.i64($i, $first)
//       4: V[$own] = store($e)
//     }
//   }
//
// Every part reads all indices. That is cheap compared with the rows, as long as a row holds more
// elements than there are parts.
//
// Requires: a chain of blocks with one store, whose coordinate a scalar chooses. Its tensor is the
// only one that is written, and it is not read. No index moves the view along the chosen dimension.
// Ensures: each element sees the same stores in the same order as before, so the sums are bit for
// bit the same for any number of cores. There are no atomics and no buffer. Runs after vectorize,
// which needs a single chain, and before thread, which would spread the columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct OwnerComputesOptions {
  std::vector<std::string> reqs = {"kernel", "scatter"};  // tags that a kernel must have
  std::string unit = "CORE";    // execution unit of the model; its count is the number of cores
  int64_t points_per_core = 2;  // ranges for each core; every range reads all indices
  // Statements that run; a smaller kernel stays on one core. -1: the calibration says.
  int64_t min_work = -1;
};

void describe(OwnerComputesOptions& options, OptionFields& fields);
// not_found if the model has units but not this one, invalid_argument if it runs nothing.
Status owner_computes(stripe::Program& program, const OwnerComputesOptions& options,
                      PassContext& context);

}  // namespace stria::passes
