// SPDX-License-Identifier: Apache-2.0
// Marks what is stored past the caches: whole lines of results that no cache could hold until they
// are read.
//
//   #kernel block [i:98304, j:128] (in A[i, 16*j], out O[i, 16*j]) {      O: 805 MB, L3: 32 MiB
//     0: #vector block [j:16] (in A[0, j], out O[0, j] fp32(…)) { S }
//   }
//     0: #vector block [j:16] (in A[0, j], #stream out O[0, j] fp32(…)) { S }
//
// A store through the caches brings its line in first: a third of a copy's traffic. A view is
// marked if its lanes fill lines from one multiple of the line's length to another, none tested,
// and what the kernel writes of the tensor is more than `percent` of the model's largest cache and
// not read in it. Requires: nothing. Ensures: a mark changes no value; emitters may pass it over.
// Runs last: it looks at the accesses as they will be made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct StreamStoresOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  int64_t percent = 100;                       // of the largest cache, a tensor's size at least
  int64_t min_bytes = 0;                       // a tensor's size at least; 0: `percent` decides
  int64_t line_bytes = 64;                     // that are stored together, at a multiple of it
};

void describe(StreamStoresOptions& options, OptionFields& fields);
Status stream_stores(stripe::Program& program, const StreamStoresOptions& options,
                     PassContext& context);

}  // namespace stria::passes
