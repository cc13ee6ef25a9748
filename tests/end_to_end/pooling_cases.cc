// SPDX-License-Identifier: Apache-2.0
// Pooling with both rounding rules.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

std::vector<ProgramCase> pooling_cases() {
  return {
      {"pool_max_floor", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}), &O = c.out("O", {4}, -99);
         each({4, 2}, [&](int i, int j) { O(i) = std::max(O(i), I(2 * i + j)); });
       }},
      {"pool_max_ceil", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -9, -1), &O = c.out("O", {5}, -99);
         each({5, 2}, [&](int i, int j) {
           if (2 * i + j < 9) O(i) = std::max(O(i), I(2 * i + j));
         });
       }},
      {"pool_average_floor", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {11}), &O = c.out("O", {2});
         each({2, 4}, [&](int i, int j) { O(i) += I(4 * i + j) / 4; });
       }},
      {"pool_average_ceil", &kFloat,
       [](Case& c) {
         Grid &I = c.in("I", {10}), &O = c.out("O", {3});
         each({3, 4}, [&](int i, int j) {
           if (4 * i + j < 10) O(i) += I(4 * i + j) / (i == 2 ? 2 : 4);
         });
       }},
      {"pool_max2d_floor", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {2, 6, 8, 3}), &O = c.out("O", {2, 2, 3, 3}, -99);
         each({2, 2, 3, 3, 3, 3}, [&](int n, int x, int y, int ch, int i, int j) {
           O(n, x, y, ch) = std::max(O(n, x, y, ch), I(n, 2 * x + i, 2 * y + j, ch));
         });
       }},
      {"pool_max2d_ceil", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {1, 6, 8, 3}, -9, -1), &O = c.out("O", {1, 3, 4, 3}, -99);
         each({3, 4, 3, 3, 3}, [&](int x, int y, int ch, int i, int j) {
           if (I.has(0, 2 * x + i, 2 * y + j, ch))
             O(0, x, y, ch) = std::max(O(0, x, y, ch), I(0, 2 * x + i, 2 * y + j, ch));
         });
       }},
      {"pool_max_padded", &kSigned,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -9, -1), &O = c.out("O", {9}, -99);
         each({9, 3}, [&](int x, int i) {
           if (I.has(x + i - 1)) O(x) = std::max(O(x), I(x + i - 1));
         });
       }},
      {"pool_min2d", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5, 6}), &O = c.out("O", {2, 3}, 99);
         each({2, 3, 2, 2}, [&](int x, int y, int i, int j) {
           O(x, y) = std::min(O(x, y), I(2 * x + i, 2 * y + j));
         });
       }},
      {"pool_max3d", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5, 6}), &O = c.out("O", {2, 2, 3}, -99);
         each({2, 2, 3, 2, 2, 2}, [&](int x, int y, int z, int i, int j, int k) {
           O(x, y, z) = std::max(O(x, y, z), I(2 * x + i, 2 * y + j, 2 * z + k));
         });
       }},
      {"pool_average_global", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {2, 4, 4, 3}), &O = c.out("O", {2, 3});
         each({2, 4, 4, 3}, [&](int n, int x, int y, int ch) { O(n, ch) += I(n, x, y, ch) / 16; });
       }},
      {"pool_max_global", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {2, 4, 3, 3}, -9, -1), &O = c.out("O", {2, 3}, -99);
         each({2, 4, 3, 3},
              [&](int n, int x, int y, int ch) { O(n, ch) = std::max(O(n, ch), I(n, x, y, ch)); });
       }},
      {"pool_sum_overlapping", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {17}), &O = c.out_of("O", c.wide(), {13});
         each({13, 5}, [&](int x, int i) { O(x) += I(x + i); });
       }},
      {"pool_max_dilated", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {12}), &O = c.out("O", {8}, -99);
         each({8, 3}, [&](int x, int i) { O(x) = std::max(O(x), I(x + 2 * i)); });
       }},
      {"unpool_nearest", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {6}), &O = c.out("O", {12});
         each({6, 2}, [&](int x, int i) { O(2 * x + i) = I(x); });
       }},
      {"pool_max_gradient", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {8}), &D = c.in("D", {4}), &H = c.out("Hit", {8});
         each({4, 2}, [&](int i, int j) {
           if (I(2 * i + j) == std::max(I(2 * i), I(2 * i + 1))) H(2 * i + j) = D(i);
         });
       }},
  };
}

}  // namespace stria::end_to_end
