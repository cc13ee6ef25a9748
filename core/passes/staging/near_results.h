// SPDX-License-Identifier: Apache-2.0
// Has what one point of a block writes of a tensor grow in a near memory, and takes it away at the
// point's end: the way out, as cache.h has the way in.
//
//   block [x:8] (in A[16*x], out C[16*x] fp32(16:1)) {
//     0: block [x:16] (in A[x], out C[x]) { S }
//   }
//   block [x:8] (in A[16*x], out C[16*x] fp32(16:1), none new<SRAM> C_near[0] fp32(16:1)) {
//     0: block [x:16] (in A[x], out C = C_near[x]) { S }
//     1: #swap_out block<DMA> [x:16] (in C_near[x], out C[x]) { copy }
//   }
//
// Exactly what has been written is taken away: constraints of an uneven end or a border hold for
// the copy too. A sum may grow so if no other point of the block adds to its elements.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

struct NearResultOptions {
  stripe::Location loc;               // of the near buffer
  stripe::Location xfer_loc;          // of the block that takes away; none: not set
  std::vector<std::string> copy_set;  // its tags
  bool views_apart = false;           // the block's other views of the tensor are of other elements
};

// `host` stands at `place`, and `name` is a refinement of it that is `out`. "" or why its results
// stay where they are; then nothing has changed but that indices start at zero.
std::string keep_results_near(stripe::Block& host, const stripe::Place& place,
                              const std::string& name, const NearResultOptions& options);

}  // namespace stria::passes
