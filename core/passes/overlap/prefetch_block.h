// SPDX-License-Identifier: Apache-2.0
// Asks memory, while the tiles of one block are worked on, for the inputs of the next block.
//
//   block [j:48] (in A[0, 256*j] fp32(64:12288, 256:1), out O[256*j, 0] …) {
//     0: #turned block [j:16, i:4] (in A[16*i, 16*j] fp32(16:12288, 16:1), out O…) { a tile }
//   }
//     0: #turned block [j:16, i:4] (in A[16*i, 16*j] …, out O…,
//                                   in A_next = A[0, 256] fp32(64:12288, 256:1)) {
//       0: block [j:1 = j, i:1 = i] (#fetch in A_next[4*j + i, 0] fp32(1:12288, 256:1)) {}
//       1: a tile
//     }
//
// The next block after the last one of a row of blocks is the first one of the next row, if a loop
// of the same core is about rows. Tiles that walk across their input touch a line of each row, far
// from the last one: memory works best on rows, as it is asked for them here. Requires: nothing.
// Ensures: a view that is marked #fetch and used by no statement changes no value; emitters may
// pass it over, and what of it lies beyond the tensor is asked for, not read. Runs last, as
// prefetch_tile does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PrefetchBlockOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string loop = "turned";                 // tag of the loop over a block's tiles
  std::string memory = "L2";                   // memory unit of the model
  int64_t percent = 50;  // of one instance of it: a tensor that is smaller stays near
};

void describe(PrefetchBlockOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status prefetch_block(stripe::Program& program, const PrefetchBlockOptions& options,
                      PassContext& context);

}  // namespace stria::passes
