// SPDX-License-Identifier: Apache-2.0
// Copies inputs into panels: what one register tile reads of them in a row lies in a row.
//
//   #kernel block [i:171, j:32] (…, in B[0, 32*j] fp32(1024:1024, 32:1), …) {
//     0: block [i:6, j:32, k:1024] (…, #panels=1 in B[k, j] fp32(1:1024, 1:1), …) { S }
//   }
//
//   none new B_panels[0, 0, 0] fp32(32:32768, 1024:32, 32:1)
//   #copy #kernel block [i0:1024, p:32, i1:32] (in B[i0, 32*p + i1], out B_panels[p, i0, i1]) {…}
//   #kernel block [i:171, j:32] (…, in B = B_panels[j, 0, 0] fp32(1:32768, 1024:32, 32:1), …) {
//     0: block [i:6, j:32, k:1024] (…, in B[0, k, j] fp32(1:32768, 1:32, 1:1), …) { S }
//   }
//
// Rows of a large matrix lie pages apart and, where their distance is a power of two, all in the
// same few sets of each cache; a panel is one run of memory. The tag `panels`, which `autotile`
// with the cost `registers` sets where the copy pays, says which dimension is cut; the part is as
// long as the range of the index that walks along it. Copies run along the source's memory. The
// last panel may be longer than the tensor: it is copied on its own, with zeros beyond, so that no
// other copy tests its points. The tag goes. Requires: the views around begin at multiples of the
// part. Ensures: the same values. Runs after the tile is cut and before anything else is done to
// it; split_prologue then moves copies of constants into the prologue.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PackPanelsOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  // A part that is the whole dimension is made longer, to a multiple of so many bytes: whole
  // vectors.
  int64_t multiple_bytes = 1;
};

void describe(PackPanelsOptions& options, OptionFields& fields);
Status pack_panels(stripe::Program& program, const PackPanelsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
