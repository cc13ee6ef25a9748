// SPDX-License-Identifier: Apache-2.0
// Marks blocks whose points are to become straight-line code.
//
//   block [co:4, y:4] (…) { 0: #vector block [l:16] (…) { S } }
//   #unroll block [co:4, y:4] (…) { 0: #vector block [l:16] (…) { S } }
//
// Changes no meaning. Register accumulators need it: a register has no address, so its subscript
// must be a constant. Runs after the passes that cut blocks, which would have to keep the mark
// consistent, and before split_border, which looks for constraints inside such blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct UnrollOptions {
  std::vector<std::string> reqs = {"register_tile"};  // tags that a block must have
  int64_t max_points = 64;                            // blocks of more points are left as loops
};

void describe(UnrollOptions& options, OptionFields& fields);
Status unroll(stripe::Program& program, const UnrollOptions& options, PassContext& context);

}  // namespace stria::passes
