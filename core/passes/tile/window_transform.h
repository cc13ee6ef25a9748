// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply windows of a tensor by a constant matrix from both sides, element by
// element in straight-line code: the transforms of short convolutions (Winograd 1980; the matrices
// are those of Toom's and Cook's products of polynomials, with the points 0, ±1, ±2 and infinity).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// Rows of coefficients.
using Matrix = std::vector<std::vector<double>>;

// The matrices of a filter of 3 taps whose results come `tile` at a time, from tile + 2 values:
// results = results_of * ((taps_of * taps) .* (values_of * values)), .* element by element.
// For tile 2 the points are 0, 1, -1 and infinity, for 4 also 2 and -2.
struct ShortFilter {
  Matrix values_of;   // [tile + 2][tile + 2]
  Matrix taps_of;     // [tile + 2][3]
  Matrix results_of;  // [tile][tile + 2]
};
// `tile` is 2 or 4.
const ShortFilter& short_filter(int64_t tile);

// One of the two tensors of a transform.
struct WindowView {
  // Of the block around, by its name there: where its windows and single elements begin, over the
  // outer indices; sizes but those of the window.
  stripe::Refinement tensor;
  std::array<size_t, 2> dims = {};    // those in which the window lies
  std::array<bool, 2> backward = {};  // it is read from its last element
};

// An index that both tensors have, and its dimensions.
struct SharedIndex {
  std::string name;
  int64_t range = 1;
  size_t from_dim = 0, to_dim = 0;
};

// A kernel that for each point of `outer` and of `shared` reads the window [columns of
// by[0]][columns of by[1]] of `from` and writes by[0] * it * transposed by[1] as the window of
// `to`. Without outer indices the first of several shared ones is that. Both tensors are of one
// type of floats.
stripe::Block window_transform(std::string name, const WindowView& from, const WindowView& to,
                               const std::array<Matrix, 2>& by, std::vector<stripe::Index> outer,
                               std::vector<SharedIndex> shared);

}  // namespace stria::passes
