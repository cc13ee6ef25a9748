// SPDX-License-Identifier: Apache-2.0
// Computes cheap intermediate tensors where they are read, and no longer stores them.
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
// A producer qualifies under these conditions:
//
// - It is a block of loads and a few cheap operations, such as additions, multiplications and
// comparisons. Other operations may only compute what is the same for a whole row or column.
// - All tensors that it writes are temporaries, and each of its points writes one element of each.
// - Each kernel that reads them reads each element once. An operation is then done as often as
// before, or once more for each further reader.
// - The readers do not load more bytes instead than they loaded before.
//
// Requires: nothing writes, between producer and reader, what the producer reads. Ensures: the same
// values; the producer and its tensors are gone. Runs after the fusion of elementwise operations,
// which repeats no operation, and before kernels are tiled. Typical producers are squares that are
// summed and the differences of a normalisation.
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
  int64_t max_operations = 4;                  // of a producer for an element of one tensor
};

void describe(InlineProducersOptions& options, OptionFields& fields);
Status inline_producers(stripe::Program& program, const InlineProducersOptions& options,
                        PassContext& context);

}  // namespace stria::passes
