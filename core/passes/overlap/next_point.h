// SPDX-License-Identifier: Apache-2.0
// The case `next_point` of prefetch: what the next point of a loop reads and writes is marked at
// its last use in this point.
//
//   #vector block [j:16] (in A[0, j] …) { … }
//   #vector block [j:16] (#prefetch=768 in A[0, j] …) { … }
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stria/passes/overlap/fetch_request.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Looks at the kernel's views that `large` names. Returns how many views were marked.
int64_t mark_next_point(stripe::Block& kernel, const std::set<std::string>& large,
                        const FetchRequest& request);

}  // namespace stria::passes
