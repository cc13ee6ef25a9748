// SPDX-License-Identifier: Apache-2.0
// Asking memory for the rows of views, one after the other, while a loop runs: what the loops of
// next_block.h and epilogue_rows.h do.
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

// Rows that the view has along its longest dimension but that in which elements lie in a row.
int64_t row_count(const stripe::Refinement& view);

// Points of the block, saturating, which indices that run from an affine form are not counted for.
double turn_count(const stripe::Block& loop);

// May statements be put into the block? A copy that reads beyond a tensor holds nothing else: what
// it reads there is poison.
bool can_hold_fetches(const stripe::Block& loop);

// Has the loop ask at its n-th point for row n of each of the views, which are refinements of its
// own. Marked #fetch and used by no statement, they change no value; what of them lies beyond the
// tensor is asked for, not read. Only where `constraints`, over indices of the loop, hold.
void fetch_rows(stripe::Block& loop, const std::vector<stripe::Refinement>& views,
                const std::vector<Affine>& constraints = {});

}  // namespace stria::passes
