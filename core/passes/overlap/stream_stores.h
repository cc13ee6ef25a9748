// SPDX-License-Identifier: Apache-2.0
// Marks stores that should bypass the caches: whole lines of results that no cache could keep until
// they are read.
//
//   #kernel block [i:98304, j:128] (in A[i, 16*j], out O[i, 16*j]) {      O: 805 MB, L3: 32 MiB
//     0: #vector block [j:16] (in A[0, j], out O[0, j] fp32(…)) { S }
//   }
//     0: #vector block [j:16] (in A[0, j], #stream out O[0, j] fp32(…)) { S }
//
// A store through the caches reads its line from memory first, which is a third of a copy's
// traffic. A view is marked if its lanes fill whole lines without a test, and if the kernel writes
// more of the tensor than `percent` of the model's largest cache and does not read it.
//
// Requires: nothing. Ensures: the same values; a mark changes none, and emitters may ignore it.
// Runs last, since it looks at the final accesses.
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
  int64_t percent = 100;   // size of a tensor, at least, in percent of the largest cache
  int64_t min_bytes = 0;   // size of a tensor, at least; 0: `percent` decides
  int64_t line_bytes = 0;  // of a line; 0: of the model's nearest cache
};

void describe(StreamStoresOptions& options, OptionFields& fields);
Status stream_stores(stripe::Program& program, const StreamStoresOptions& options,
                     PassContext& context);

}  // namespace stria::passes
