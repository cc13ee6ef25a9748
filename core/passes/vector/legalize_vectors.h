// SPDX-License-Identifier: Apache-2.0
// Legalises vectors: cuts a block of lanes into powers of two, for languages whose vectors have no
// other sizes.
//
//   0: #vector block [l:13] (in A[l], in B[l], out C[l]) { S }
//   0: #vector block [l:8] (in A[l], in B[l], out C[l]) { S }
//   1: #vector block [l:4] (in A[8 + l], in B[8 + l], out C[8 + l]) { S }
//   2: #vector block [l:1] (in A[12 + l], in B[12 + l], out C[12 + l]) { S }
//
// The largest parts come first, and none has more than `widest` lanes. A block whose number of
// lanes is a power of two stays, however wide it is.
//
// Requires: the block has no blocks inside, one index of more than one value, and no location that
// names an index. It starts no aggregation (after agg_init no block does), so that the parts run
// the same points in the same order. Ensures: the same values. Runs after the passes that expect
// one block of lanes in each chain of blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LegalizeVectorsOptions {
  std::vector<std::string> reqs = {"vector"};  // tags that a block of lanes must have
  int64_t widest = 16;                         // lanes of a part; a power of two
};

void describe(LegalizeVectorsOptions& options, OptionFields& fields);
// invalid_argument if `widest` is no power of two.
Status legalize_vectors(stripe::Program& program, const LegalizeVectorsOptions& options,
                        PassContext& context);

}  // namespace stria::passes
