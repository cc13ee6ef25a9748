// SPDX-License-Identifier: Apache-2.0
// Marks what is to be fetched ahead: while a block works on one point, memory is asked for what the
// next point will read and write.
//
//   #kernel #rows block [i:1024] (in A[i, 0] fp32(1:768, 768:1), out O[i, 0] …) {
//     0: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (in A[0, j] …) { a sum } }
//     1: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (in A[0, j] …) { … } }
//   }
//     1: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (#prefetch=768 in A[0, j] …) { … } }
//
// The value is how many elements further on the next point finds what this one finds here. The
// last statement that uses a tensor is marked: what comes before it has to wait for memory
// anyway, while this one calculates or stores. A loop over several blocks that stands last in a
// point has its own next point: what is before it prepares it. Requires: nothing. Ensures: a
// mark changes no value; emitters may pass it over, and what lies beyond the tensor is asked
// for, not read. Runs last, after stream_stores, whose results are not fetched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PrefetchNextOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  // Tags of blocks inside that need none: their inner loops are full.
  std::vector<std::string> exclude;
  int64_t min_bytes = 2048;   // from one point to the next: what is nearer comes unasked
  std::string memory = "L2";  // memory unit of the model
  int64_t percent = 50;       // of one instance of it: a tensor that is smaller stays near
};

void describe(PrefetchNextOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status prefetch_next(stripe::Program& program, const PrefetchNextOptions& options,
                     PassContext& context);

}  // namespace stria::passes
