// SPDX-License-Identifier: Apache-2.0
// Gives a kernel one view of each tensor that it writes, instead of one for each part.
//
//   0: #kernel #pieces block [p:6] (in A[p], in B[p], out R[p], out R_0 = R[4 + p]) {
//     0: block [p:1 = p] (3 - p >= 0; in A[0], out R[0]) { S }
//     1: block [] (in B[0], out R = R_0[0]) { S }
//   }
//
//   0: #kernel #pieces block [p:6] (in A[p], in B[p], out R[0] fp32(10:1)) {
//     0: block [p:1 = p] (3 - p >= 0; in A[0], out R[p]) { S }
//     1: block [p:1 = p] (in B[0], out R[4 + p]) { S }
//   }
//
// Requires: only blocks in the kernel use the views, which are `out` and do not aggregate. Ensures:
// the same values. A kernel's views are its arguments, and no two outputs of a kernel may be the
// same memory. Kernels get several views of a tensor when the pieces that it is joined of are
// joined or fused. Runs after thread, which needs the separate views: they show that different
// points write different elements.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct MergeViewsOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
};

void describe(MergeViewsOptions& options, OptionFields& fields);
Status merge_views(stripe::Program& program, const MergeViewsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
