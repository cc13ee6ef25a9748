// SPDX-License-Identifier: Apache-2.0
// Index forms: permutations, slices, diagonals, divisions.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void transpose(Case& c) {
  Grid &I = c.in("I", {4, 7}), &O = c.out("O", {7, 4});
  each({4, 7}, [&](int i, int j) { O(j, i) = I(i, j); });
}

void permute(Case& c) {
  Grid &I = c.in("I", {2, 3, 4, 5}), &O = c.out("O", {2, 5, 3, 4});
  each({2, 3, 4, 5}, [&](int n, int h, int w, int ch) { O(n, ch, h, w) = I(n, h, w, ch); });
}

void reverse(Case& c) {
  Grid &I = c.in("I", {9}), &O = c.out("O", {9});
  each({9}, [&](int i) { O(8 - i) = I(i); });
}

void slice(Case& c) {
  Grid &I = c.in("I", {11}), &O = c.out("O", {3});
  each({3}, [&](int i) { O(i) = I(3 * i + 1); });
}

void slice_by_division(Case& c) {
  Grid &I = c.in("I", {11}), &O = c.out("O", {3});
  each({3}, [&](int i) { O(i) = I(3 * i + 1); });
}

void concatenate(Case& c) {
  Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &O = c.out("O", {9});
  each({4}, [&](int i) { O(i) = A(i); });
  each({5}, [&](int i) { O(4 + i) = B(i); });
}

void concatenate_sum(Case& c) {
  Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {1}), &O = c.out("O", {12}),
       &S = c.out("S", {12});
  each({4}, [&](int i) { O(i) = A(i); });
  each({5}, [&](int i) { O(5 + i) = B(i); });
  each({1}, [&](int i) { O(10 + i) = C(i); });
  each({12}, [&](int i) { S(i) = 2 * O(i); });
}

void concatenate_rows(Case& c) {
  Grid &A = c.in("A", {5, 77}), &B = c.in("B", {5, 77}), &C = c.in("C", {5, 77}),
       &R = c.out("R", {5, 3}), &S = c.out("S", {5});
  each({5}, [&](int i) { R(i, 2) = C(i, 0); });
  each({5, 77}, [&](int i, int j) {
    R(i, 0) += A(i, j);
    R(i, 1) += B(i, j);
    R(i, 2) = std::max(R(i, 2), C(i, j));
  });
  each({5, 3}, [&](int i, int j) { S(i) += R(i, j); });
}

void concatenate_overlap(Case& c) {
  Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {2}), &D = c.in("D", {11}),
       &O = c.out("O", {11});
  O.values = D.values;
  each({4}, [&](int i) { O(1 + i) = A(i); });
  each({5}, [&](int i) { O(3 + i) = B(i); });
  each({2}, [&](int i) { O(i) = C(i); });
}

void concatenate_columns(Case& c) {
  Grid &A = c.in("A", {3, 4, 5}), &D = c.in("D", {3, 1, 5}), &E = c.in("E", {3, 6, 5}),
       &O = c.out("O", {3, 11, 5});
  each({3, 4, 5}, [&](int b, int i, int k) { O(b, i, k) = A(b, i, k); });
  each({3, 1, 5}, [&](int b, int i, int k) { O(b, 4 + i, k) = 2 * D(b, i, k); });
  each({3, 6, 5}, [&](int b, int i, int k) { O(b, 5 + i, k) = E(b, i, k); });
}

void concatenate_nested(Case& c) {
  Grid &A = c.in("A", {3, 4}), &B = c.in("B", {3, 4}), &C = c.in("C", {3, 4}),
       &D = c.in("D", {3, 4}), &O = c.out("O", {6, 8});
  each({3, 4}, [&](int i, int j) {
    O(i, j) = A(i, j), O(3 + i, j) = B(i, j);
    O(i, 4 + j) = C(i, j), O(3 + i, 4 + j) = D(i, j);
  });
}

void concatenate_used(Case& c) {
  Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {6}), &O = c.out("O", {15}),
       &Y = c.out("Y", {15}), &R = c.out("R", {15});
  each({4}, [&](int i) { O(i) = Y(i) = A(i), R(i) = 2 * A(i); });
  each({5}, [&](int i) { O(4 + i) = Y(4 + i) = R(4 + i) = B(i); });
  each({6}, [&](int i) { O(9 + i) = R(9 + i) = C(i); });
}

void concatenate_reads_itself(Case& c) {
  Grid &A = c.in("A", {7}), &O = c.out("O", {7});
  each({7}, [&](int i) { O(i) = 2 * A(std::max(i - 1, 0)); });
}

void concatenate_many(Case& c) {
  Grid &A = c.in("A", {2, 3, 2, 4}), &B = c.in("B", {2, 3, 2, 1}), &C = c.in("C", {2, 3, 2, 7}),
       &D = c.in("D", {2, 3, 2, 5}), &O = c.out("O", {2, 3, 2, 17});
  each({2, 3, 2, 4}, [&](int w, int x, int y, int i) { O(w, x, y, i) = A(w, x, y, i); });
  each({2, 3, 2, 1}, [&](int w, int x, int y, int i) { O(w, x, y, 4 + i) = B(w, x, y, i); });
  each({2, 3, 2, 7}, [&](int w, int x, int y, int i) { O(w, x, y, 5 + i) = C(w, x, y, i); });
  each({2, 3, 2, 5}, [&](int w, int x, int y, int i) { O(w, x, y, 12 + i) = D(w, x, y, i); });
}

void repeat(Case& c) {
  Grid &I = c.in("I", {5}), &O = c.out("O", {15});
  each({3, 5}, [&](int r, int i) { O(5 * r + i) = I(i); });
}

void repeat_of_four_dims(Case& c) {
  Grid &I = c.in("I", {2, 3, 4, 5}), &O = c.out("O", {14, 18, 16, 10});
  each({14, 18, 16, 10}, [&](int i, int j, int k, int l) {
    O(i, j, k, l) = I(i % 2, j % 3, k % 4, l % 5);
  });
}

void roll(Case& c) {
  Grid &I = c.in("I", {7}), &O = c.out("O", {7});
  each({7}, [&](int i) { O((i + 3) % 7) = I(i); });
}

void interleave(Case& c) {
  Grid &A = c.in("A", {5}), &B = c.in("B", {5}), &O = c.out("O", {10});
  each({5}, [&](int i) { O(2 * i) = A(i), O(2 * i + 1) = B(i); });
}

void space_to_depth(Case& c) {
  Grid &I = c.in("I", {4, 6, 3}), &O = c.out("O", {2, 3, 12});
  each({2, 3, 2, 2, 3}, [&](int x, int y, int i, int j, int ch) {
    O(x, y, 3 * (2 * i + j) + ch) = I(2 * x + i, 2 * y + j, ch);
  });
}

void toeplitz(Case& c) {
  Grid &I = c.in("I", {9}), &O = c.out("O", {5, 5});
  each({5, 5}, [&](int i, int j) { O(i, j) = I(i - j + 4); });
}

void upper_triangle(Case& c) {
  Grid &I = c.in("I", {5, 5}), &O = c.out("O", {5, 5});
  each({5, 5}, [&](int i, int j) {
    if (j >= i) O(i, j) = I(i, j);
  });
}

void sum_of_antidiagonals(Case& c) {
  Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {8});
  each({4, 5}, [&](int i, int j) { O(i + j) += I(i, j); });
}

void coprime_steps(Case& c) {
  Grid &I = c.in("I", {5, 4}), &O = c.out_of("O", c.wide(), {22});
  each({5, 4}, [&](int i, int j) { O(2 * i + 3 * j) += I(i, j); });
}

void divided_sum(Case& c) {
  Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {4});
  each({4, 5}, [&](int i, int j) {
    if ((i + j) % 2 == 0 && (i + j) / 2 < 4) O((i + j) / 2) += I(i, j);
  });
}

void two_divisions(Case& c) {
  Grid &I = c.in("I", {14}), &K = c.in("K", {14}), &O = c.out_of("O", c.wide(), {14});
  each({14}, [&](int i) {
    if (i % 6 == 0) O(i) = I(i / 2) * K(i / 3);
  });
}

void cancelled_index(Case& c) {
  Grid &A = c.in("A", {6}), &R = c.out_of("R", c.wide(), {6});
  each({6}, [&](int j) { R(j) = 3 * A(j); });
}

void three_divided_sums(Case& c) {
  Grid &A = c.in("A", {4}), &R = c.out_of("R", c.wide(), {2});
  each({5, 7, 5}, [&](int i, int j_up, int k_up) {
    const int j = j_up - 4, k = k_up - 3, out = 3 * i + 3 * k - 1, in = 4 - 2 * j - 3 * k;
    if (2 * i + j + 2 >= 0 && out % 2 == 0 && R.has(out / 2) && in % 5 == 0 && A.has(in / 5))
      R(out / 2) += A(in / 5);
  });
}

}  // namespace

std::vector<ProgramCase> indexing_cases() {
  return {
      {"transpose", &kNumbers, transpose},
      {"permute", &kNumbers, permute},
      {"reverse", &kNumbers, reverse},
      {"slice", &kNumbers, slice},
      {"slice_by_division", &kNumbers, slice_by_division},
      {"concatenate", &kNumbers, concatenate},
      {"concatenate_sum", &kNumbers, concatenate_sum},
      {"concatenate_rows", &kFloat, concatenate_rows},
      {"concatenate_overlap", &kNumbers, concatenate_overlap},
      {"concatenate_columns", &kNumbers, concatenate_columns},
      {"concatenate_nested", &kNumbers, concatenate_nested},
      {"concatenate_used", &kNumbers, concatenate_used},
      {"concatenate_reads_itself", &kNumbers, concatenate_reads_itself},
      {"concatenate_many", &kNumbers, concatenate_many},
      {"repeat", &kNumbers, repeat},
      {"repeat_of_four_dims", &kFp32, repeat_of_four_dims},
      {"roll", &kNumbers, roll},
      {"interleave", &kNumbers, interleave},
      {"space_to_depth", &kNumbers, space_to_depth},
      {"toeplitz", &kNumbers, toeplitz},
      {"upper_triangle", &kNumbers, upper_triangle},
      {"sum_of_antidiagonals", &kNumbers, sum_of_antidiagonals},
      {"coprime_steps", &kNumbers, coprime_steps},
      {"divided_sum", &kNumbers, divided_sum},
      {"two_divisions", &kNumbers, two_divisions},
      {"cancelled_index", &kNumbers, cancelled_index},
      {"three_divided_sums", &kNumbers, three_divided_sums},
  };
}

}  // namespace stria::end_to_end
