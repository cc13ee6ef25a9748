// SPDX-License-Identifier: Apache-2.0
// Linear algebra over the integers: Hermite normal form, linear equations, and coordinates on a
// lattice. Plain values and pure functions, thread-safe. A number beyond 64 bits on the way is
// out_of_range, never a wrong result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stria/base/result.h"

namespace stria {

using IntegerRow = std::vector<int64_t>;
// Rows of one length. Column vectors are the columns of such a matrix, or an IntegerRow.
using IntegerMatrix = std::vector<IntegerRow>;

IntegerMatrix identity_matrix(size_t size);
// `a` has as many columns as `b` has rows; `columns` are those of `b` (needed if it has no row).
Result<IntegerMatrix> product(const IntegerMatrix& a, const IntegerMatrix& b, size_t columns);
Result<IntegerRow> product(const IntegerMatrix& a, const IntegerRow& vector);

// matrix * transform = form, where transform is unimodular (determinant 1 or -1): the columns of
// both matrices make the same lattice. The first pivots.size() columns of form are its basis in
// echelon form, the others are 0: column c has its first number in row pivots[c], which is
// positive, and the numbers to its left in that row are in 0 .. pivot - 1.
struct HermiteForm {
  IntegerMatrix form;
  IntegerMatrix transform;     // columns x columns
  std::vector<size_t> pivots;  // rising; as many as the rank
};
Result<HermiteForm> hermite_form(const IntegerMatrix& matrix, size_t columns);

// All integer x with matrix * x = right: x = point + directions * t, each for exactly one integer
// vector t.
struct IntegerSolutions {
  IntegerRow point;
  IntegerMatrix directions;  // `unknowns` rows, `free` columns
  size_t free = 0;
};
// nullopt: no integer solution.
Result<std::optional<IntegerSolutions>> solve_integers(const IntegerMatrix& matrix,
                                                       const IntegerRow& right, size_t unknowns);

// Coordinates (q, s) of Z^n that follow the n forms v = basis * x closely: every integer x is
// whole * q + part * s for exactly one q in Z^n and one s with 0 <= s[i] < counts[i], and then
// v = diag(moduli) * q + residues * s. So form i runs in steps of moduli[i], and how its values
// between two steps go together with those of later forms is s[i]. For v = (2 x + k, k):
// 2 x + k = 2 q0 + s0, k = 2 q1 + s0.
struct LatticeSplit {
  IntegerMatrix whole;     // n x n
  IntegerMatrix part;      // n x n, unimodular
  IntegerRow moduli;       // the least multiples of the unit vectors that v can be
  IntegerMatrix residues;  // lower triangular; residues[i][i] * counts[i] == moduli[i]
  IntegerRow counts;       // 1: form i has no residue
};
// invalid_argument if the forms are dependent.
Result<LatticeSplit> split_lattice(const IntegerMatrix& basis);

}  // namespace stria
