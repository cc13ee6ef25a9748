// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/integer_matrix.h"

#include <cstdlib>
#include <limits>
#include <numeric>

#include "stria/base/status.h"
#include "stria/poly/affine.h"

namespace stria {
namespace {

Status too_large() {
  return make_error(StatusCode::out_of_range,
                    "solving its index forms takes numbers of more than 64 bits");
}

// *sum += a * b; false if that leaves 64 bits. The lowest number counts as outside: its magnitude
// is none.
bool add_product(int64_t* sum, int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum) &&
         *sum != std::numeric_limits<int64_t>::min();
}

// Column operations on a matrix and on what records them.
struct Columns {
  IntegerMatrix* matrix;
  IntegerMatrix* record;

  template <typename Function>
  bool each_row(Function&& function) {
    for (IntegerMatrix* rows : {matrix, record})
      for (IntegerRow& row : *rows)
        if (!function(row)) return false;
    return true;
  }
  bool add(size_t to, size_t from, int64_t factor) {
    return each_row([&](IntegerRow& row) { return add_product(&row[to], row[from], factor); });
  }
  void swap(size_t a, size_t b) {
    each_row([&](IntegerRow& row) { return std::swap(row[a], row[b]), true; });
  }
  void negate(size_t a) {
    each_row([&](IntegerRow& row) { return row[a] = -row[a], true; });
  }
};

}  // namespace

IntegerMatrix identity_matrix(size_t size) {
  IntegerMatrix out(size, IntegerRow(size));
  for (size_t i = 0; i < size; ++i) out[i][i] = 1;
  return out;
}

Result<IntegerMatrix> product(const IntegerMatrix& a, const IntegerMatrix& b, size_t columns) {
  IntegerMatrix out(a.size(), IntegerRow(columns));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t j = 0; j < columns; ++j)
        if (!add_product(&out[i][j], a[i][k], b[k][j])) return too_large();
  return out;
}

Result<IntegerRow> product(const IntegerMatrix& a, const IntegerRow& vector) {
  IntegerRow out(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < vector.size(); ++k)
      if (!add_product(&out[i], a[i][k], vector[k])) return too_large();
  return out;
}

Result<HermiteForm> hermite_form(const IntegerMatrix& matrix, size_t columns) {
  HermiteForm out{matrix, identity_matrix(columns), {}};
  for (const IntegerRow& row : matrix)
    for (int64_t number : row)
      if (number == std::numeric_limits<int64_t>::min()) return too_large();
  Columns work{&out.form, &out.transform};
  for (size_t r = 0; r < matrix.size() && out.pivots.size() < columns; ++r) {
    const IntegerRow& row = out.form[r];
    const size_t first = out.pivots.size();
    // Euclid's algorithm on the columns that have no pivot yet, by the least number of the row.
    while (true) {
      size_t least = columns, others = 0;
      for (size_t c = first; c < columns; ++c) {
        if (row[c] == 0) continue;
        ++others;
        if (least == columns || std::abs(row[c]) < std::abs(row[least])) least = c;
      }
      if (others == 0) break;
      if (least != first) work.swap(first, least);
      if (others == 1) break;
      for (size_t c = first + 1; c < columns; ++c)
        if (row[c] != 0 && !work.add(c, first, -(row[c] / row[first]))) return too_large();
    }
    if (row[first] == 0) continue;
    if (row[first] < 0) work.negate(first);
    for (size_t c = 0; c < first; ++c)
      if (!work.add(c, first, -floor_div(row[c], row[first]))) return too_large();
    out.pivots.push_back(r);
  }
  return out;
}

Result<std::optional<IntegerSolutions>> solve_integers(const IntegerMatrix& matrix,
                                                       const IntegerRow& right, size_t unknowns) {
  STRIA_ASSIGN(HermiteForm hermite, hermite_form(matrix, unknowns));
  // form * w = right, from the first row down; a row without a pivot must hold by itself.
  const size_t rank = hermite.pivots.size();
  IntegerRow w(unknowns);
  size_t known = 0;
  for (size_t r = 0; r < matrix.size(); ++r) {
    int64_t rest = right[r];
    for (size_t c = 0; c < known; ++c)
      if (!add_product(&rest, hermite.form[r][c], -w[c])) return too_large();
    if (known < rank && hermite.pivots[known] == r) {
      const int64_t pivot = hermite.form[r][known];
      if (rest % pivot != 0) return std::optional<IntegerSolutions>();
      w[known++] = rest / pivot;
    } else if (rest != 0) {
      return std::optional<IntegerSolutions>();
    }
  }
  IntegerSolutions out;
  STRIA_ASSIGN(out.point, product(hermite.transform, w));
  out.free = unknowns - rank;
  for (const IntegerRow& row : hermite.transform)
    out.directions.emplace_back(row.begin() + static_cast<std::ptrdiff_t>(rank), row.end());
  return std::optional<IntegerSolutions>(std::move(out));
}

Result<LatticeSplit> split_lattice(const IntegerMatrix& basis) {
  const size_t n = basis.size();
  STRIA_ASSIGN(HermiteForm hermite, hermite_form(basis, n));
  if (hermite.pivots.size() != n)
    return invalid_argument("{} forms of rank {} are no coordinates", n, hermite.pivots.size());
  const IntegerMatrix& h = hermite.form;  // lower triangular
  IntegerMatrix steps(n,
                      IntegerRow(n));  // column i: the w with h * w = moduli[i] * (unit vector i)
  LatticeSplit out;
  for (size_t i = 0; i < n; ++i) {
    IntegerRow w(n);
    w[i] = 1;
    for (size_t j = i + 1; j < n; ++j) {
      int64_t rest = 0;
      for (size_t k = i; k < j; ++k)
        if (!add_product(&rest, h[j][k], -w[k])) return too_large();
      // The least factor that makes the division exact.
      const int64_t factor = h[j][j] / std::gcd(rest, h[j][j]);
      for (size_t k = i; k < j; ++k)
        if (__builtin_mul_overflow(w[k], factor, &w[k])) return too_large();
      if (__builtin_mul_overflow(rest, factor, &rest)) return too_large();
      w[j] = rest / h[j][j];
    }
    int64_t modulus = 0;
    if (!add_product(&modulus, h[i][i], w[i])) return too_large();
    out.moduli.push_back(modulus);
    out.counts.push_back(w[i]);
    for (size_t j = 0; j < n; ++j) steps[j][i] = w[j];
  }
  STRIA_ASSIGN(out.whole, product(hermite.transform, steps, n));
  out.part = std::move(hermite.transform);
  out.residues = std::move(hermite.form);
  return out;
}

}  // namespace stria
