// SPDX-License-Identifier: Apache-2.0
// Transposes in registers: reads a square tile along an input's memory, keeps it in registers, and
// uses it across. Kernels whose inputs lie across their outputs then run in lanes, too.
//
//   #kernel block [j:64, i:96] (in A[i, j] fp32(1:64, 1:1), out O[j, i] fp32(1:96, 1:1)) { S }
//   #kernel block [j:4, i:6] (in A[16*i, 16*j] …, out O[16*j, 16*i] …,
//                             none new<REG> A_turned[0, 0] fp32(16:16, 16:1)) {
//     0: block [i:16] (…) { 0: #vector block [j:16] (in A[0, j], out A_turned[0, j]) { copy } }
//     1: block [j:16] (…) { 0: #vector block [i:16] (in A = A_turned[i, 0], out O[0, i]) { S } }
//   }
//
// Otherwise a transpose touches a line of memory for each element that it takes from it. One outer
// point has several tiles along both dimensions (`tiles`, `tiles_across`), so that a page, and what
// the memory fetches beside a line, is used before it is left. Outer points along the inputs' rows
// run one after the other (`blocks`). If the distance of rows is a multiple of a cache's sets, rows
// evict each other, while the next columns fall into sets of their own. There are fewer of them if
// some cores would get none.
//
// Requires: the kernel is one block of loads, stores and scalar statements without aggregation, and
// its points commute. All outputs have stride 1 along one index. The inputs that have another
// stride along it have stride 1 along a second index. Ensures: the same values. Runs after
// order_indices and before vectorize, which leaves such kernels alone.
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
  // An index with fewer points gets no lanes; 0: the calibration of the model says.
  int64_t min_range = 0;
  int64_t tiles = 4;          // of an outer point, along the outputs
  int64_t tiles_across = 16;  // of an outer point, along the inputs
  // Memory unit of the model: a cache whose sets should keep the inputs of an outer point in
  // `percent` of their places. If they cannot, there are fewer `tiles`, but at least `min_tiles`:
  // with fewer, stores lose more than loads gain. "" = no such cache.
  std::string memory;
  int64_t percent = 75;
  int64_t min_tiles = 3;
  // Outer points along the inputs that one core runs one after the other, at most. If there are
  // several instances of `unit`, each gets `points_per_core` such runs, as far as there are so
  // many.
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
