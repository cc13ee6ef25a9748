// SPDX-License-Identifier: Apache-2.0
// Index forms: permutations, slices, diagonals, divisions.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

std::vector<ProgramCase> indexing_cases() {
  return {
      {"transpose", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 7}), &O = c.out("O", {7, 4});
         each({4, 7}, [&](int i, int j) { O(j, i) = I(i, j); });
       }},
      {"permute", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {2, 3, 4, 5}), &O = c.out("O", {2, 5, 3, 4});
         each({2, 3, 4, 5}, [&](int n, int h, int w, int ch) { O(n, ch, h, w) = I(n, h, w, ch); });
       }},
      {"reverse", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}), &O = c.out("O", {9});
         each({9}, [&](int i) { O(8 - i) = I(i); });
       }},
      {"slice", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {11}), &O = c.out("O", {3});
         each({3}, [&](int i) { O(i) = I(3 * i + 1); });
       }},
      {"slice_by_division", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {11}), &O = c.out("O", {3});
         each({3}, [&](int i) { O(i) = I(3 * i + 1); });
       }},
      {"concatenate", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &O = c.out("O", {9});
         each({4}, [&](int i) { O(i) = A(i); });
         each({5}, [&](int i) { O(4 + i) = B(i); });
       }},
      {"concatenate_sum", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {1}), &O = c.out("O", {12}),
              &S = c.out("S", {12});
         each({4}, [&](int i) { O(i) = A(i); });
         each({5}, [&](int i) { O(5 + i) = B(i); });
         each({1}, [&](int i) { O(10 + i) = C(i); });
         each({12}, [&](int i) { S(i) = 2 * O(i); });
       }},
      {"concatenate_overlap", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {2}), &D = c.in("D", {11}),
              &O = c.out("O", {11});
         O.values = D.values;
         each({4}, [&](int i) { O(1 + i) = A(i); });
         each({5}, [&](int i) { O(3 + i) = B(i); });
         each({2}, [&](int i) { O(i) = C(i); });
       }},
      {"concatenate_columns", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {3, 4, 5}), &D = c.in("D", {3, 1, 5}), &E = c.in("E", {3, 6, 5}),
              &O = c.out("O", {3, 11, 5});
         each({3, 4, 5}, [&](int b, int i, int k) { O(b, i, k) = A(b, i, k); });
         each({3, 1, 5}, [&](int b, int i, int k) { O(b, 4 + i, k) = 2 * D(b, i, k); });
         each({3, 6, 5}, [&](int b, int i, int k) { O(b, 5 + i, k) = E(b, i, k); });
       }},
      {"concatenate_nested", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {3, 4}), &B = c.in("B", {3, 4}), &C = c.in("C", {3, 4}),
              &D = c.in("D", {3, 4}), &O = c.out("O", {6, 8});
         each({3, 4}, [&](int i, int j) {
           O(i, j) = A(i, j), O(3 + i, j) = B(i, j);
           O(i, 4 + j) = C(i, j), O(3 + i, 4 + j) = D(i, j);
         });
       }},
      {"concatenate_used", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4}), &B = c.in("B", {5}), &C = c.in("C", {6}), &O = c.out("O", {15}),
              &Y = c.out("Y", {15}), &R = c.out("R", {15});
         each({4}, [&](int i) { O(i) = Y(i) = A(i), R(i) = 2 * A(i); });
         each({5}, [&](int i) { O(4 + i) = Y(4 + i) = R(4 + i) = B(i); });
         each({6}, [&](int i) { O(9 + i) = R(9 + i) = C(i); });
       }},
      {"concatenate_reads_itself", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {7}), &O = c.out("O", {7});
         each({7}, [&](int i) { O(i) = 2 * A(std::max(i - 1, 0)); });
       }},
      {"concatenate_many", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {2, 3, 2, 4}), &B = c.in("B", {2, 3, 2, 1}),
              &C = c.in("C", {2, 3, 2, 7}), &D = c.in("D", {2, 3, 2, 5}),
              &O = c.out("O", {2, 3, 2, 17});
         each({2, 3, 2, 4}, [&](int w, int x, int y, int i) { O(w, x, y, i) = A(w, x, y, i); });
         each({2, 3, 2, 1}, [&](int w, int x, int y, int i) { O(w, x, y, 4 + i) = B(w, x, y, i); });
         each({2, 3, 2, 7}, [&](int w, int x, int y, int i) { O(w, x, y, 5 + i) = C(w, x, y, i); });
         each({2, 3, 2, 5},
              [&](int w, int x, int y, int i) { O(w, x, y, 12 + i) = D(w, x, y, i); });
       }},
      {"repeat", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5}), &O = c.out("O", {15});
         each({3, 5}, [&](int r, int i) { O(5 * r + i) = I(i); });
       }},
      {"roll", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {7}), &O = c.out("O", {7});
         each({7}, [&](int i) { O((i + 3) % 7) = I(i); });
       }},
      {"interleave", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {5}), &B = c.in("B", {5}), &O = c.out("O", {10});
         each({5}, [&](int i) { O(2 * i) = A(i), O(2 * i + 1) = B(i); });
       }},
      {"space_to_depth", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 6, 3}), &O = c.out("O", {2, 3, 12});
         each({2, 3, 2, 2, 3}, [&](int x, int y, int i, int j, int ch) {
           O(x, y, 3 * (2 * i + j) + ch) = I(2 * x + i, 2 * y + j, ch);
         });
       }},
      {"toeplitz", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}), &O = c.out("O", {5, 5});
         each({5, 5}, [&](int i, int j) { O(i, j) = I(i - j + 4); });
       }},
      {"upper_triangle", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5, 5}), &O = c.out("O", {5, 5});
         each({5, 5}, [&](int i, int j) {
           if (j >= i) O(i, j) = I(i, j);
         });
       }},
      {"sum_of_antidiagonals", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {8});
         each({4, 5}, [&](int i, int j) { O(i + j) += I(i, j); });
       }},
      {"coprime_steps", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5, 4}), &O = c.out_of("O", c.wide(), {22});
         each({5, 4}, [&](int i, int j) { O(2 * i + 3 * j) += I(i, j); });
       }},
      {"divided_sum", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {4});
         each({4, 5}, [&](int i, int j) {
           if ((i + j) % 2 == 0 && (i + j) / 2 < 4) O((i + j) / 2) += I(i, j);
         });
       }},
      {"two_divisions", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {14}), &K = c.in("K", {14}), &O = c.out_of("O", c.wide(), {14});
         each({14}, [&](int i) {
           if (i % 6 == 0) O(i) = I(i / 2) * K(i / 3);
         });
       }},
      {"cancelled_index", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {6}), &R = c.out_of("R", c.wide(), {6});
         each({6}, [&](int j) { R(j) = 3 * A(j); });
       }},
      {"three_divided_sums", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4}), &R = c.out_of("R", c.wide(), {2});
         each({5, 7, 5}, [&](int i, int j_up, int k_up) {
           const int j = j_up - 4, k = k_up - 3, out = 3 * i + 3 * k - 1, in = 4 - 2 * j - 3 * k;
           if (2 * i + j + 2 >= 0 && out % 2 == 0 && R.has(out / 2) && in % 5 == 0 && A.has(in / 5))
             R(out / 2) += A(in / 5);
         });
       }},
  };
}

}  // namespace stria::end_to_end
