// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply windows of a tensor by a constant matrix from both sides, in straight-line
// code over single elements. These are the transforms of short convolutions (Winograd 1980). The
// matrices are those of Toom's and Cook's products of polynomials, with the points 0, ±1, ±2 and
// infinity.
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

// The matrices of a filter of 3 taps that computes `tile` results from tile + 2 values: results =
// results_of * ((taps_of * taps) .* (values_of * values)), where .* multiplies element by element.
// For tile 2 the points are 0, 1, -1 and infinity; for tile 4 also 2 and -2.
struct ShortFilter {
  Matrix values_of;   // [tile + 2][tile + 2]
  Matrix taps_of;     // [tile + 2][3]
  Matrix results_of;  // [tile][tile + 2]
};
// `tile` is 2 or 4.
const ShortFilter& short_filter(int64_t tile);

// One of the two tensors of a transform.
struct WindowView {
  // The tensor, by its name in the block around. The access says, over the outer indices, where a
  // window begins. The sizes are those of the view, except in the window's dimensions.
  stripe::Refinement tensor;
  std::array<size_t, 2> dims = {};    // the dimensions of the window
  std::array<bool, 2> backward = {};  // true if the window is read from its last element
};

// An index that walks along a dimension of both tensors.
struct SharedIndex {
  std::string name;
  int64_t range = 1;
  size_t from_dim = 0, to_dim = 0;
};

// A kernel that reads, for each point of `outer` and of `shared`, the window W [columns of
// by[0]][columns of by[1]] of `from`, and writes by[0] * W * transposed(by[1]) as the window of
// `to`. If there are no outer indices, the first of several shared ones becomes an outer one. Both
// tensors have the same float type.
stripe::Block window_transform(std::string name, const WindowView& from, const WindowView& to,
                               const std::array<Matrix, 2>& by, std::vector<stripe::Index> outer,
                               std::vector<SharedIndex> shared);

}  // namespace stria::passes
