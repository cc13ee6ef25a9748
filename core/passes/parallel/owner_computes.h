// SPDX-License-Identifier: Apache-2.0
// Spreads a kernel that adds to rows which scalars choose (a scatter) over the cores: each owns a
// range of the rows, reads all indices, and stores what falls into its range.
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
// Requires: a chain of blocks with one store whose coordinate a scalar chooses, into the only
// tensor that is written and not read; no index moves the chosen dimension's view. Ensures: each
// element sees the same stores in the same order as before, so the sums are bit for bit the same
// for any number of cores; no atomics, no buffer. Every part reads all indices: cheap beside the
// rows as long as a row holds more elements than there are parts. Runs after vectorize, which wants
// one chain, and before thread, which would spread the columns.
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
  int64_t points_per_core = 2;  // ranges for each core; each reads all indices
  int64_t min_work = 32768;     // statements run; less stays on one core
};

void describe(OwnerComputesOptions& options, OptionFields& fields);
// not_found if the model has units but not this one, invalid_argument if it runs nothing.
Status owner_computes(stripe::Program& program, const OwnerComputesOptions& options,
                      PassContext& context);

}  // namespace stria::passes
