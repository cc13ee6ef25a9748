// SPDX-License-Identifier: Apache-2.0
// Computes cheap intermediate tensors where they are read, and stores them no more.
//
//   0: #kernel block [i:8, j:64] (in A[i, j], in M[i], out Q[i, j]) {
//     … $d = sub.fp32($A, $M) … Q = store($q)
//   }
//   1: #kernel block [i:8, j:64] (in Q[i, j], out V[i]:add.fp32) { $q = load(Q); V = store($q) }
//
//   0: #kernel block [i:8, j:64] (in A[i, j], in M[i], out V[i]:add.fp32) {
//     … $d = sub.fp32($A, $M) … V = store($q)
//   }
//
// A producer qualifies if it is a block of loads and a few additions, multiplications, comparisons
// and the like (others may work on what is the same for a row or a column), all that it writes is
// private and covered point by point, and every kernel that reads it reads each element once: the
// operations are then done as often as before, or once more for each further reader. What the
// readers load instead may not be more than what they loaded. Requires: nothing writes in between
// what the producer reads. Ensures: the same values; the producer and its tensors are gone. Runs
// after fusion of elementwise operations, which needs no operation twice, and before kernels are
// cut: sums of squares, the differences of a normalisation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct InlineProducersOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags of producers and of those that read them
  int64_t max_operations = 4;                  // of a producer for one of its tensors
};

void describe(InlineProducersOptions& options, OptionFields& fields);
Status inline_producers(stripe::Program& program, const InlineProducersOptions& options,
                        PassContext& context);

}  // namespace stria::passes
