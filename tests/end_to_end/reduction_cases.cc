// SPDX-License-Identifier: Apache-2.0
// Reductions over some or all dimensions, and cumulative ones.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

std::vector<ProgramCase> reduction_cases() {
  return {
      {"sum_axis0", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -4, 4), &O = c.out_of("O", c.wide(), {5}, 0);
         each({4, 5}, [&](int i, int j) { O(j) += I(i, j); });
       }},
      {"product_axis0", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -2, 2), &O = c.out_of("O", c.wide(), {5}, 1);
         each({4, 5}, [&](int i, int j) { O(j) *= I(i, j); });
       }},
      {"max_axis0", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -9, -1), &O = c.out_of("O", c.type, {5}, -99);
         each({4, 5}, [&](int i, int j) { O(j) = std::max(O(j), I(i, j)); });
       }},
      {"min_axis0", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, 1, 9), &O = c.out_of("O", c.type, {5}, 99);
         each({4, 5}, [&](int i, int j) { O(j) = std::min(O(j), I(i, j)); });
       }},
      {"sum_axis1", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -4, 4), &O = c.out_of("O", c.wide(), {4}, 0);
         each({4, 5}, [&](int i, int j) { O(i) += I(i, j); });
       }},
      {"product_axis1", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -2, 2), &O = c.out_of("O", c.wide(), {4}, 1);
         each({4, 5}, [&](int i, int j) { O(i) *= I(i, j); });
       }},
      {"max_axis1", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, -9, -1), &O = c.out_of("O", c.type, {4}, -99);
         each({4, 5}, [&](int i, int j) { O(i) = std::max(O(i), I(i, j)); });
       }},
      {"min_axis1", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}, 1, 9), &O = c.out_of("O", c.type, {4}, 99);
         each({4, 5}, [&](int i, int j) { O(i) = std::min(O(i), I(i, j)); });
       }},
      {"sum_all_dimensions", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {3, 4, 2, 5}), &O = c.out_of("O", c.wide(), {});
         for (double value : I.values) O() += value;
       }},
      {"sum_kept_dimension", &kSigned,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}), &O = c.out("O", {4, 5});
         each({4, 5}, [&](int i, int j) {
           double top = I(i, 0);
           for (int k = 1; k < 5; ++k) top = std::max(top, I(i, k));
           O(i, j) = I(i, j) - top;
         });
       }},
      {"variance", &kFloat,
       [](Case& c) {
         Grid &I = c.in("I", {3, 8}), &O = c.out("O", {3});
         each({3}, [&](int i) {
           double s = 0, q = 0;
           for (int j = 0; j < 8; ++j) s += I(i, j) / 8, q += I(i, j) * I(i, j) / 8;
           O(i) = q - s * s;
         });
       }},
      {"norms", &kReal,
       [](Case& c) {
         c.ulps = 4;
         Grid &I = c.in("I", {3, 6}), &One = c.out("One", {3}), &Two = c.out("Two", {3});
         each({3, 6},
              [&](int i, int j) { One(i) += std::fabs(I(i, j)), Two(i) += I(i, j) * I(i, j); });
         for (double& value : Two.values) value = std::sqrt(value);
       }},
      {"argmax", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5, 7}), &O = c.out_of("O", i32, {5});
         each({5}, [&](int i) {
           for (int j = 0; j < 7; ++j)
             if (I(i, j) >= I(i, static_cast<int>(O(i)))) O(i) = j;
         });
       }},
      {"argmin_first", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5, 7}), &O = c.out_of("O", i32, {5});
         each({5}, [&](int i) {
           for (int j = 6; j >= 0; --j)
             if (I(i, j) <= I(i, static_cast<int>(O(i)))) O(i) = j;
           for (int j = 6; j >= 0; --j)
             if (I(i, j) == I(i, static_cast<int>(O(i)))) O(i) = j;
         });
       }},
      {"any_and_all", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {6, 2}), &Any = c.out_of("Any", boolean, {6}),
              &All = c.out_of("All", boolean, {6}, 1);
         each({6, 2}, [&](int i, int j) {
           if (I(i, j) > 0) Any(i) = 1;
           if (!(I(i, j) > 0)) All(i) = 0;
         });
       }},
      {"count_truth", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 30}), &O = c.out_of("O", i32, {4});
         each({4, 30}, [&](int i, int j) { O(i) += I(i, j) == 2; });
       }},
      {"logsumexp", &kFloat,
       [](Case& c) {
         c.ulps = 16;
         Grid &I = c.in("I", {4, 9}), &O = c.out("O", {4, 1});
         each({4, 9}, [&](int i, int j) { O(i, 0) += std::exp(I(i, j)); });
         for (double& value : O.values) value = std::log(value);
       }},
      {"match_count", &kNumbers,
       [](Case& c) {
         Grid &A = c.in("A", {4, 2}), &B = c.in("B", {2, 5}), &O = c.out_of("O", boolean, {4, 5});
         each({4, 5, 2}, [&](int i, int j, int k) {
           if (A(i, k) == B(k, j)) O(i, j) = 1;
         });
       }},
      {"one_hot", &kReal,
       [](Case& c) {
         Grid &I = c.in_of("I", i32, {6}, 0, 4), &O = c.out("O", {6, 5});
         c.given("Classes", i32, {5}, {0, 1, 2, 3, 4});
         c.given("One", c.type, {5}, {1, 1, 1, 1, 1});
         each({6}, [&](int i) { O(i, static_cast<int>(I(i))) = 1; });
       }},
      {"cumulative_sum", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
         each({9, 9}, [&](int i, int k) {
           if (k <= i) O(i) += I(k);
         });
       }},
      {"cumulative_sum_offset", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
         each({9, 9}, [&](int i, int k) {
           if (k <= i) O(i) += I(k);
         });
       }},
      {"cumulative_sum_reversed", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
         each({9, 9}, [&](int i, int k) {
           if (k >= i) O(i) += I(k);
         });
       }},
      {"cumulative_sum_exclusive", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
         each({9, 9}, [&](int i, int k) {
           if (k < i) O(i) += I(k);
         });
       }},
      {"cumulative_product", &kSigned,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -2, 2), &O = c.out_of("O", c.wide(), {9}, 1);
         each({9, 9}, [&](int i, int k) {
           if (k <= i) O(i) *= I(k);
         });
       }},
      {"cumulative_max", &kSigned,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -9, -1), &O = c.out_of("O", c.type, {9}, -99);
         each({9, 9}, [&](int i, int k) {
           if (k <= i) O(i) = std::max(O(i), I(k));
         });
       }},
      {"cumulative_min", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, 1, 9), &O = c.out_of("O", c.type, {9}, 99);
         each({9, 9}, [&](int i, int k) {
           if (k <= i) O(i) = std::min(O(i), I(k));
         });
       }},
      {"moving_sum", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
         each({9, 9}, [&](int i, int k) {
           if (k <= i && k > i - 3) O(i) += I(k);
         });
       }},
      {"cumulative_sum_rows", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {3, 6}), &O = c.out_of("O", c.wide(), {3, 6});
         each({3, 6, 6}, [&](int m, int i, int k) {
           if (k <= i) O(m, i) += I(m, k);
         });
       }},
      {"integral_image", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {4, 5});
         each({4, 5, 4, 5}, [&](int x, int y, int i, int j) {
           if (i <= x && j <= y) O(x, y) += I(i, j);
         });
       }},
  };
}

}  // namespace stria::end_to_end
