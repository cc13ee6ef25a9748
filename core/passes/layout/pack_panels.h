// SPDX-License-Identifier: Apache-2.0
// Copies inputs into panels: what one register tile reads of an input becomes one run of memory.
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
// The rows of a large matrix lie pages apart. If their distance is a power of two, they also fall
// into the same few sets of each cache. A panel is one run of memory.
//
// `autotile` with the cost `registers` sets the tag `panels` where a copy pays. The tag says which
// dimension is cut; each part is as long as the range of the index that walks along it. The copies
// run along the source's memory. The last panel may be longer than what is left of the tensor. It
// has a copy of its own, with zeros beyond the tensor, so that the other copies need no test. The
// tag is removed.
//
// Requires: the views around begin at multiples of the part. Ensures: the same values. Runs after
// register tiles are chosen and before any other pass changes them; split_prologue then moves
// copies of constants into the prologue.
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
  // A part that is the whole dimension is rounded up to a multiple of so many bytes, so that it has
  // whole vectors.
  int64_t multiple_bytes = 1;
};

void describe(PackPanelsOptions& options, OptionFields& fields);
Status pack_panels(stripe::Program& program, const PackPanelsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
