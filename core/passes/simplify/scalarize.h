// SPDX-License-Identifier: Apache-2.0
// Makes scalars of buffers of one element.
//
//   block [x:8] (in A[x], none new T[0] fp32(1:1), out C[x]) {
//     $a = load(A); $t = neg.fp32($a); T = store($t)
//     $u = load(T); $c = exp.fp32($u); C = store($c)
//   }
//   block [x:8] (in A[x], out C[x]) {
//     $a = load(A); $t = neg.fp32($a); $c = exp.fp32($t); C = store($c)
//   }
//
// Requires: an allocation (`none`) of one element, without aggregation. Its block stores to it
// before it loads from it, and no inner block or special uses it. Ensures: the same values; the
// buffer, its stores and its loads are gone. Where a store converts, the conversion stays as
// `ident`. Runs after localize, which makes such buffers.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ScalarizeOptions {
  // Tags of the blocks that are searched; their insides too.
  std::vector<std::string> reqs = {"main"};
};

void describe(ScalarizeOptions& options, OptionFields& fields);
Status scalarize(stripe::Program& program, const ScalarizeOptions& options, PassContext& context);

}  // namespace stria::passes
