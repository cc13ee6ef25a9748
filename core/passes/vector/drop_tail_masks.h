// SPDX-License-Identifier: Apache-2.0
// Drops the tail mask of a reduction's lanes if nobody reads what the lanes beyond the end add up.
//
//   block [j:7] (…, in B[j, 0, 0] fp32(1:…, 64:16, 16:1), none new C_acc[0] fp32(16:1)) {
//     0: block [j:16] (out C_acc[j]) { identity }
//     1: block [k:64, j_1 = j] (…) {
//       0: #vector block [j:16, j_0 = j_1] (99 - j - 16*j_0 >= 0; …) { C_acc += … }
//     }
//     2: block [j:16, j_0 = j] (99 - j - 16*j_0 >= 0; in C_acc[j] …) { C = store(load(C_acc)) }
//   }
//
// The constraint in statement 1 is dropped. Nobody reads the elements of C_acc beyond it, since
// statement 2 has the same constraint. Steps of the reduction then load and multiply whole vectors,
// and only the store at the end masks lanes.
//
// Requires: what the views read is there for all lanes (as in a panel that pack_panels has made
// longer than its tensor), and the functions are total (core/builtins): they have a value for every
// operand. Ensures: the same values are written. Runs after vectorize, which gives a reduction its
// accumulator, and before split_interior, which would make a second loop for the constraint.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DropTailMasksOptions {
  std::vector<std::string> reqs = {"vector"};  // tags that a block of lanes must have
};

void describe(DropTailMasksOptions& options, OptionFields& fields);
Status drop_tail_masks(stripe::Program& program, const DropTailMasksOptions& options,
                       PassContext& context);

}  // namespace stria::passes
