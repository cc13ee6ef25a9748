// SPDX-License-Identifier: Apache-2.0
// Prefetching the rows of views, one after the other, while a loop runs: the step that next_block.h
// and epilogue_rows.h share.
//
//   block [c:16] (…, in R[0, 0] fp32(14:256, 32:1)) { a step }
//   block [c:16] (…, in R[0, 0] fp32(14:256, 32:1)) {
//     0: block [c:1 = c] (13 - c >= 0; #fetch in R[c, 0] fp32(1:256, 32:1)) {}
//     1: a step
//   }
#pragma once

#include <cstdint>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// The number of rows of the view: the size of its longest dimension, the contiguous one excluded.
int64_t row_count(const stripe::Refinement& view);

// The number of points of the block. Indices with an affine form do not count.
double turn_count(const stripe::Block& loop);

// May statements be added to the block? A copy that reads beyond a tensor must hold nothing else,
// since what it reads there is poison.
bool can_hold_fetches(const stripe::Block& loop);

// Makes the loop prefetch, at its n-th point, row n of each view. The views are refinements of the
// loop. The new views are marked #fetch and used by no statement, so they change no value; what
// they cover beyond the tensor is prefetched, but never read. Only where `constraints`, over
// indices of the loop, hold.
void fetch_rows(stripe::Block& loop, const std::vector<stripe::Refinement>& views,
                const std::vector<Affine>& constraints = {});

}  // namespace stria::passes
