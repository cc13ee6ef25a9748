// SPDX-License-Identifier: Apache-2.0
// Integer linear algebra against its definitions and against enumeration of points.
#include "stria/poly/integer_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace stria {
namespace {

using testing::ElementsAre;

IntegerMatrix random_matrix(std::mt19937& engine, size_t rows, size_t columns, int64_t limit) {
  std::uniform_int_distribution<int64_t> number(-limit, limit);
  IntegerMatrix out(rows, IntegerRow(columns));
  for (IntegerRow& row : out)
    for (int64_t& value : row) value = engine() % 3 == 0 ? 0 : number(engine);
  return out;
}

int64_t determinant(const IntegerMatrix& m) {
  if (m.empty()) return 1;
  int64_t sum = 0;
  for (size_t c = 0; c < m.size(); ++c) {
    IntegerMatrix minor;
    for (size_t r = 1; r < m.size(); ++r) {
      minor.push_back(m[r]);
      minor.back().erase(minor.back().begin() + static_cast<std::ptrdiff_t>(c));
    }
    sum += (c % 2 ? -1 : 1) * m[0][c] * determinant(minor);
  }
  return sum;
}

// Calls visit for every integer vector with low[i] <= v[i] <= high[i].
void each_point(const IntegerRow& low, const IntegerRow& high,
                const std::function<void(const IntegerRow&)>& visit) {
  for (size_t i = 0; i < low.size(); ++i)
    if (low[i] > high[i]) return;
  IntegerRow at = low;
  while (true) {
    visit(at);
    size_t i = 0;
    while (i < at.size() && ++at[i] > high[i]) at[i] = low[i], ++i;
    if (i == at.size()) return;
  }
}

IntegerRow times(const IntegerMatrix& a, const IntegerRow& x) { return *product(a, x); }

TEST(HermiteForm, KnownForm) {
  // The lattice of the columns (2, 0) and (1, 1).
  auto hermite = hermite_form({{2, 1}, {0, 1}}, 2);
  ASSERT_TRUE(hermite.ok());
  EXPECT_EQ(hermite->form, (IntegerMatrix{{1, 0}, {1, 2}}));
  EXPECT_THAT(hermite->pivots, ElementsAre(0, 1));
}

TEST(HermiteForm, IsEchelonReducedAndUnimodular) {
  std::mt19937 engine(5);
  std::set<size_t> ranks;
  for (int round = 0; round < 2000; ++round) {
    const size_t rows = engine() % 5, columns = engine() % 5;
    IntegerMatrix m = random_matrix(engine, rows, columns, 7);
    if (rows > 1 && engine() % 3 == 0) m[rows - 1] = m[0];  // dependent
    auto hermite = hermite_form(m, columns);
    ASSERT_TRUE(hermite.ok()) << hermite.status().message();
    EXPECT_EQ(*product(m, hermite->transform, columns), hermite->form);
    EXPECT_EQ(std::abs(determinant(hermite->transform)), 1);
    const size_t rank = hermite->pivots.size();
    ranks.insert(rank);
    for (size_t c = 0; c < columns; ++c) {
      const size_t first = c < rank ? hermite->pivots[c] : rows;
      for (size_t r = 0; r < first; ++r) EXPECT_EQ(hermite->form[r][c], 0);
      if (c >= rank) continue;
      if (c > 0) {
        EXPECT_GT(hermite->pivots[c], hermite->pivots[c - 1]);
      }
      EXPECT_GT(hermite->form[first][c], 0);
      for (size_t left = 0; left < c; ++left) {
        EXPECT_GE(hermite->form[first][left], 0);
        EXPECT_LT(hermite->form[first][left], hermite->form[first][c]);
      }
    }
  }
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 3, 4));
}

TEST(HermiteForm, IsTheSameForEveryBasisOfALattice) {
  std::mt19937 engine(6);
  for (int round = 0; round < 500; ++round) {
    IntegerMatrix m = random_matrix(engine, 3, 3, 5);
    auto plain = hermite_form(m, 3);
    auto other = hermite_form(random_matrix(engine, 3, 3, 5), 3);  // brings a unimodular matrix
    ASSERT_TRUE(plain.ok() && other.ok());
    auto again = hermite_form(*product(m, other->transform, 3), 3);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->form, plain->form);
  }
}

TEST(SolveIntegers, AgreesWithEnumeration) {
  std::mt19937 engine(7);
  int solvable = 0, impossible = 0;
  for (int round = 0; round < 600; ++round) {
    const size_t rows = 1 + engine() % 2, n = 1 + engine() % 3;
    IntegerMatrix m = random_matrix(engine, rows, n, 4);
    IntegerRow right(rows);
    for (int64_t& value : right) value = static_cast<int64_t>(engine() % 9) - 4;
    auto solved = solve_integers(m, right, n);
    ASSERT_TRUE(solved.ok()) << solved.status().message();
    const IntegerRow low(n, -6), high(n, 6);
    std::set<IntegerRow> expected;
    each_point(low, high, [&](const IntegerRow& x) {
      if (times(m, x) == right) expected.insert(x);
    });
    if (!*solved) {
      EXPECT_TRUE(expected.empty());
      ++impossible;
      continue;
    }
    ++solvable;
    const IntegerSolutions& all = **solved;
    EXPECT_EQ(times(m, all.point), right);
    // Each t gives a solution; different t different ones; and every solution of the box is one,
    // for the directions are what a unimodular matrix sends to 0 (its other columns are independent
    // under m). Enumerated: solutions of the box found from a window of t.
    std::set<IntegerRow> found;
    size_t count = 0;
    each_point(IntegerRow(all.free, -40), IntegerRow(all.free, 40), [&](const IntegerRow& t) {
      if (all.free > 1 && (std::abs(t[0]) > 25 || std::abs(t[1]) > 25)) return;
      if (all.free > 2 && (std::abs(t[0]) > 6 || std::abs(t[1]) > 6 || std::abs(t[2]) > 6)) return;
      IntegerRow x = times(all.directions, t);
      bool inside = true;
      for (size_t i = 0; i < n; ++i) {
        x[i] += all.point[i];
        inside = inside && std::abs(x[i]) <= 6;
      }
      EXPECT_EQ(times(m, x), right);
      if (!inside) return;
      found.insert(x);
      ++count;
    });
    EXPECT_EQ(count, found.size());
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(solvable, 150);
  EXPECT_GT(impossible, 100);
}

// Every integer point of a box is met by exactly one (q, s), and the forms are what they should be.
void check_split(const IntegerMatrix& basis) {
  auto split = split_lattice(basis);
  ASSERT_TRUE(split.ok()) << split.status().message();
  const size_t n = basis.size();
  EXPECT_EQ(std::abs(determinant(split->part)), 1);
  EXPECT_EQ(*product(basis, split->part, n), split->residues);
  IntegerMatrix diagonal(n, IntegerRow(n));
  for (size_t i = 0; i < n; ++i) {
    diagonal[i][i] = split->moduli[i];
    EXPECT_GE(split->counts[i], 1);
    EXPECT_EQ(split->counts[i] * split->residues[i][i], split->moduli[i]);
  }
  EXPECT_EQ(*product(basis, split->whole, n), diagonal);
  // x -> (q, s) by v = basis x, one form after another; each is decided by those before it.
  const int64_t reach = n == 3 ? 4 : 9;
  std::set<std::pair<IntegerRow, IntegerRow>> seen;
  size_t points = 0;
  each_point(IntegerRow(n, -reach), IntegerRow(n, reach), [&](const IntegerRow& x) {
    const IntegerRow v = times(basis, x);
    IntegerRow q(n), s(n);
    for (size_t i = 0; i < n; ++i) {
      int64_t rest = v[i];
      for (size_t j = 0; j < i; ++j) rest -= split->residues[i][j] * s[j];
      const int64_t modulus = split->moduli[i];
      q[i] = rest >= 0 ? rest / modulus : -((-rest + modulus - 1) / modulus);
      rest -= q[i] * modulus;
      ASSERT_EQ(rest % split->residues[i][i], 0);
      s[i] = rest / split->residues[i][i];
      ASSERT_LT(s[i], split->counts[i]);
    }
    IntegerRow back = times(split->whole, q), parts = times(split->part, s);
    for (size_t i = 0; i < n; ++i) back[i] += parts[i];
    EXPECT_EQ(back, x);
    seen.insert({q, s});
    ++points;
  });
  EXPECT_EQ(seen.size(), points);
}

TEST(SplitLattice, TransposedConvolution) {
  // O[2 x + k] over x and k, in the forms 2 x + k and k.
  auto split = split_lattice({{2, 1}, {0, 1}});
  ASSERT_TRUE(split.ok());
  EXPECT_THAT(split->moduli, ElementsAre(2, 2));
  EXPECT_THAT(split->counts, ElementsAre(2, 1));
  EXPECT_EQ(split->whole, (IntegerMatrix{{1, -1}, {0, 2}}));  // x = q0 - q1, k = 2 q1 + s0
  EXPECT_EQ(split->residues, (IntegerMatrix{{1, 0}, {1, 2}}));
}

TEST(SplitLattice, MeetsEveryPointOnce) {
  std::mt19937 engine(8);
  int split = 0;
  for (int round = 0; round < 400; ++round) {
    const size_t n = 1 + engine() % 3;
    IntegerMatrix basis = random_matrix(engine, n, n, n == 3 ? 3 : 5);
    if (determinant(basis) == 0) {
      EXPECT_EQ(split_lattice(basis).status().code(), StatusCode::invalid_argument);
      continue;
    }
    check_split(basis);
    if (HasFailure()) return;
    ++split;
  }
  EXPECT_GT(split, 150);
}

// The moduli are the least multiples of the unit vectors in the lattice.
TEST(SplitLattice, ModuliAreLeast) {
  std::mt19937 engine(9);
  for (int round = 0; round < 200; ++round) {
    IntegerMatrix basis = random_matrix(engine, 2, 2, 4);
    if (determinant(basis) == 0) continue;
    auto split = split_lattice(basis);
    ASSERT_TRUE(split.ok());
    for (size_t i = 0; i < 2; ++i) {
      int64_t least = 0;
      for (int64_t m = 1; least == 0; ++m) {
        IntegerRow right(2);
        right[i] = m;
        auto solved = solve_integers(basis, right, 2);
        ASSERT_TRUE(solved.ok());
        if (*solved) least = m;
      }
      EXPECT_EQ(split->moduli[i], least);
    }
  }
}

TEST(IntegerMatrix, NumbersBeyond64BitsAreRefused) {
  const int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(product({{big, big}}, IntegerRow{1, 1}).status().code(), StatusCode::out_of_range);
  EXPECT_EQ(product({{big}}, {{2}}, 1).status().code(), StatusCode::out_of_range);
  EXPECT_EQ(hermite_form({{std::numeric_limits<int64_t>::min()}}, 1).status().code(),
            StatusCode::out_of_range);
  EXPECT_EQ(split_lattice({{big, 1, 0}, {0, big - 2, 1}, {1, 0, big - 4}}).status().code(),
            StatusCode::out_of_range);
}

}  // namespace
}  // namespace stria
