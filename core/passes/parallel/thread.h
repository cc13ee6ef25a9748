// SPDX-License-Identifier: Apache-2.0
// Spreads a kernel over the cores. It makes an outermost block tagged #parallel over some output
// indices, with so many points that all cores are busy to the end.
//
//   #kernel block [i:1024, k:64, j:64] (in A[i, k], in B[k, j], out C[i, j]:add) { S }      2 cores
//   #kernel #parallel block<CORE> [i:16] (in A[64*i, 0], in B[0, 0], out C[64*i, 0]:add) {
//     0: block [i:64, k:64, j:64] (in A[i, k], in B[k, j], out C[i, j]:add) { S }
//   }
//
// A kernel stays on one core if it has less work than a core does in the time that it takes to
// start the others.
//
// Requires: points of the kernel commute. Ensures: no two points of the #parallel block write the
// same element; reductions and overlapping indices run inside. Runs after autotile and vectorize,
// so that tiles and lanes are not cut, and before split_interior and agg_init, which then work
// inside the part of one core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ThreadOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string unit = "CORE";  // execution unit of the model; its count is the number of cores
  // Parts for each core, at most. More parts balance the load, and each costs a start. 0: every
  // point of the output indices is a part.
  int64_t points_per_core = 8;
  // Statements that run; a smaller kernel stays on one core. -1: the calibration says.
  int64_t min_work = -1;
};

void describe(ThreadOptions& options, OptionFields& fields);
// not_found if the model has units but not this one, invalid_argument if it runs nothing.
Status thread(stripe::Program& program, const ThreadOptions& options, PassContext& context);

}  // namespace stria::passes
