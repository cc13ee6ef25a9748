// SPDX-License-Identifier: Apache-2.0
// The case `next_block` of prefetch: what the next block of tiles reads is prefetched row by row
// while the tiles of this block run.
//
//   0: #transposed block [j:16, i:4] (in A[16*i, 16*j] fp32(16:12288, 16:1), out O…) { a tile }
//   0: #transposed block [j:16, i:4] (in A[16*i, 16*j] …, out O…,
//                                 in A_next = A[0, 256] fp32(64:12288, 256:1)) {
//     0: block [j:1 = j, i:1 = i] (#fetch in A_next[4*j + i, 0] fp32(1:12288, 256:1)) {}
//     1: a tile
//   }
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stria/passes/overlap/fetch_request.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Looks at the kernel's views that `large` names. Returns how many views are prefetched.
int64_t fetch_next_block(stripe::Block& kernel, const std::set<std::string>& large,
                         const FetchRequest& request);

}  // namespace stria::passes
