// SPDX-License-Identifier: Apache-2.0
// Lets kernels run as lanes whose inputs lie across them: a square tile is read along the input's
// memory, kept in registers, and read across.
//
//   #kernel block [j:64, i:96] (in A[i, j] fp32(1:64, 1:1), out O[j, i] fp32(1:96, 1:1)) { S }
//   #kernel block [j:4, i:6] (in A[16*i, 16*j] …, out O[16*j, 16*i] …,
//                             none new<REG> A_turned[0, 0] fp32(16:16, 16:1)) {
//     0: block [i:16] (…) { 0: #vector block [j:16] (in A[0, j], out A_turned[0, j]) { copy } }
//     1: block [j:16] (…) { 0: #vector block [i:16] (in A = A_turned[i, 0], out O[0, i]) { S } }
//   }
//
// A transpose otherwise touches a line of memory for each element that it takes from it. Several
// tiles in a row along both dimensions (`tiles`, `tiles_across`) make up one outer point, so that a
// page, and what the memory fetches beside a line, is used before it is left. Outer points along
// the inputs' rows (`blocks`) run one after the other: rows whose distance is a multiple of a
// cache's sets push each other out, while the next columns have sets of their own; fewer of them
// where cores would have none left. Requires: a kernel that is one block of loads, stores and
// scalar statements without aggregation, whose points commute; an index along which all outputs lie
// in a row, and another one along which the inputs do that do not lie along the first. Ensures: the
// same values. Runs after order_indices and before vectorize, which leaves such kernels alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct RegisterTransposeOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string registers = "REG";  // memory unit of the model that holds the tile; "" = no location
  int64_t min_range = 4;          // shorter indices have no lanes
  int64_t tiles = 4;              // in a row along the outputs at an outer point, one by one
  int64_t tiles_across = 16;      // along the inputs
  // Memory unit of the model, a cache whose sets are to keep an outer point's inputs in so much of
  // their places: where they do not, there are fewer `tiles`, but `min_tiles` at least, below which
  // more is lost on stores than is won. "" = no such memory.
  std::string memory;
  int64_t percent = 75;
  int64_t min_tiles = 3;
  // Outer points along the inputs that one core runs in a row, at most: instances of `unit`, if
  // there are several, are left `points_per_core` points each as far as there are so many.
  int64_t blocks = 64;
  std::string unit = "CORE";  // execution unit of the model
  int64_t points_per_core = 8;
  std::vector<std::string> tile_set = {"register_tile"};  // tags of the blocks around lanes
  // Tags of the loop over the tiles of an outer point, if there are several.
  std::vector<std::string> block_set = {"transposed"};
};

void describe(RegisterTransposeOptions& options, OptionFields& fields);
// not_found if the model has units but not one of these, invalid_argument if `registers` or
// `memory` holds nothing or `unit` runs nothing.
Status register_transpose(stripe::Program& program, const RegisterTransposeOptions& options,
                          PassContext& context);

}  // namespace stria::passes
