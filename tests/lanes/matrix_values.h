// SPDX-License-Identifier: Apache-2.0
// Matrices that the lanes of a subgroup hold together: who holds what, and products of them.
#pragma once

#include <cstdint>

#include "memory.h"
#include "stria/semtree/tree/tree.h"

namespace stria::lanes {

// The lane of a subgroup of so many that holds an element (numbered row by row) of the array's
// matrices. No device has this distribution: it is another for each form and type, so that a kernel
// that counts on one is found.
int64_t holder(const semtree::Array& array, int64_t element, int64_t lanes);

// One matrix, from element `first` of `memory` on, row by row.
struct MatrixValues {
  const semtree::Array& array;
  Memory& memory;
  int64_t first = 0;

  int64_t rows() const { return array.fragment->rows; }
  int64_t columns() const { return array.fragment->columns; }
  int64_t count() const { return rows() * columns(); }
};

// Do the forms belong together?
bool is_product(const semtree::Array& sum, const semtree::Array& a, const semtree::Array& b);
// sum += a * b, in the type of `sum`; poison comes out of poison.
void add_product(const MatrixValues& sum, const MatrixValues& a, const MatrixValues& b);

}  // namespace stria::lanes
