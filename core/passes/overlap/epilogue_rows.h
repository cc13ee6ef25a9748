// SPDX-License-Identifier: Apache-2.0
// The case `epilogue` of prefetch: what is used after a tile's reduction is prefetched row by row
// while the reduction runs.
//
//   1: #tile block [c:64] (in A…, in B…, inout S_acc…) { a step }
//   1: #tile block [c:16] (in A…, in B…, inout S_acc…, in R[0, 0] fp32(14:256, 32:1)) {
//     0: block [c:1 = c] (13 - c >= 0; #fetch in R[c, 0] fp32(1:256, 32:1)) {}
//     1: block [c:4] (in A…, in B…, inout S_acc…) { a step }
//   }
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stria/passes/overlap/fetch_request.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Looks at the kernel's views that `large` names. Returns how many views are prefetched.
int64_t fetch_epilogue_rows(stripe::Block& kernel, const std::set<std::string>& large,
                            const FetchRequest& request);

}  // namespace stria::passes
