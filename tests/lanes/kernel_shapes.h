// SPDX-License-Identifier: Apache-2.0
// Tile functions that GPUs run in groups of lanes (products, convolutions, sums, what is done row
// by row, transposes), with sizes and types by chance.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dice.h"
#include "stria/tile/bind/bind.h"

namespace stria::lanes {

struct ShapedProgram {
  std::string text;
  std::map<std::string, tile::TensorType> inputs;
  // A group covers all of its output, whose sums may not fit into local memory.
  bool may_not_fit = false;
  std::string tiled;  // the indices of its product, each a letter; empty: it has none
};

// The same seed gives the same one on every machine. Every dimension up to 2^14.
ShapedProgram random_shapes(uint64_t seed, bool products_only, double most_points = 40000);

// A kernel of rows A[M, N], B[N] whose lanes exchange five sums.
extern const char* const kRowsWithFiveSums;

// As often in 1 .. 2 as in 2 .. 4, 4 .. 8, …; `octaves` of them.
int64_t random_size(trust::Dice& dice, int octaves);

// For the message of a failure.
std::string listing(const ShapedProgram& program);

}  // namespace stria::lanes
