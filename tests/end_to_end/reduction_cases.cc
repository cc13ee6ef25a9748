// SPDX-License-Identifier: Apache-2.0
// Reductions over some or all dimensions, and cumulative ones.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void sum_axis0(Case& c) {
  Grid &I = c.in("I", {4, 5}, -4, 4), &O = c.out_of("O", c.wide(), {5}, 0);
  each({4, 5}, [&](int i, int j) { O(j) += I(i, j); });
}

void product_axis0(Case& c) {
  Grid &I = c.in("I", {4, 5}, -2, 2), &O = c.out_of("O", c.wide(), {5}, 1);
  each({4, 5}, [&](int i, int j) { O(j) *= I(i, j); });
}

void max_axis0(Case& c) {
  Grid &I = c.in("I", {4, 5}, -9, -1), &O = c.out_of("O", c.type, {5}, -99);
  each({4, 5}, [&](int i, int j) { O(j) = std::max(O(j), I(i, j)); });
}

void min_axis0(Case& c) {
  Grid &I = c.in("I", {4, 5}, 1, 9), &O = c.out_of("O", c.type, {5}, 99);
  each({4, 5}, [&](int i, int j) { O(j) = std::min(O(j), I(i, j)); });
}

void sum_axis1(Case& c) {
  Grid &I = c.in("I", {4, 5}, -4, 4), &O = c.out_of("O", c.wide(), {4}, 0);
  each({4, 5}, [&](int i, int j) { O(i) += I(i, j); });
}

void product_axis1(Case& c) {
  Grid &I = c.in("I", {4, 5}, -2, 2), &O = c.out_of("O", c.wide(), {4}, 1);
  each({4, 5}, [&](int i, int j) { O(i) *= I(i, j); });
}

void max_axis1(Case& c) {
  Grid &I = c.in("I", {4, 5}, -9, -1), &O = c.out_of("O", c.type, {4}, -99);
  each({4, 5}, [&](int i, int j) { O(i) = std::max(O(i), I(i, j)); });
}

void min_axis1(Case& c) {
  Grid &I = c.in("I", {4, 5}, 1, 9), &O = c.out_of("O", c.type, {4}, 99);
  each({4, 5}, [&](int i, int j) { O(i) = std::min(O(i), I(i, j)); });
}

void sum_all_dimensions(Case& c) {
  Grid &I = c.in("I", {3, 4, 2, 5}), &O = c.out_of("O", c.wide(), {});
  for (double value : I.values) O() += value;
}

void sum_kept_dimension(Case& c) {
  Grid &I = c.in("I", {4, 5}), &O = c.out("O", {4, 5});
  each({4, 5}, [&](int i, int j) {
    double top = I(i, 0);
    for (int k = 1; k < 5; ++k) top = std::max(top, I(i, k));
    O(i, j) = I(i, j) - top;
  });
}

void variance(Case& c) {
  Grid &I = c.in("I", {3, 8}), &O = c.out("O", {3});
  each({3}, [&](int i) {
    double s = 0, q = 0;
    for (int j = 0; j < 8; ++j) s += I(i, j) / 8, q += I(i, j) * I(i, j) / 8;
    O(i) = q - s * s;
  });
}

void norms(Case& c) {
  c.ulps = 4;
  Grid &I = c.in("I", {3, 6}), &One = c.out("One", {3}), &Two = c.out("Two", {3});
  each({3, 6}, [&](int i, int j) { One(i) += std::fabs(I(i, j)), Two(i) += I(i, j) * I(i, j); });
  for (double& value : Two.values) value = std::sqrt(value);
}

void argmax(Case& c) {
  Grid &I = c.in("I", {5, 7}), &O = c.out_of("O", i32, {5});
  each({5}, [&](int i) {
    for (int j = 0; j < 7; ++j)
      if (I(i, j) >= I(i, static_cast<int>(O(i)))) O(i) = j;
  });
}

void argmin_first(Case& c) {
  Grid &I = c.in("I", {5, 7}), &O = c.out_of("O", i32, {5});
  each({5}, [&](int i) {
    for (int j = 6; j >= 0; --j)
      if (I(i, j) <= I(i, static_cast<int>(O(i)))) O(i) = j;
    for (int j = 6; j >= 0; --j)
      if (I(i, j) == I(i, static_cast<int>(O(i)))) O(i) = j;
  });
}

void any_and_all(Case& c) {
  Grid &I = c.in("I", {6, 2}), &Any = c.out_of("Any", boolean, {6}),
       &All = c.out_of("All", boolean, {6}, 1);
  each({6, 2}, [&](int i, int j) {
    if (I(i, j) > 0) Any(i) = 1;
    if (!(I(i, j) > 0)) All(i) = 0;
  });
}

void count_truth(Case& c) {
  Grid &I = c.in("I", {4, 30}), &O = c.out_of("O", i32, {4});
  each({4, 30}, [&](int i, int j) { O(i) += I(i, j) == 2; });
}

void logsumexp(Case& c) {
  c.ulps = 16;
  Grid &I = c.in("I", {4, 9}), &O = c.out("O", {4, 1});
  each({4, 9}, [&](int i, int j) { O(i, 0) += std::exp(I(i, j)); });
  for (double& value : O.values) value = std::log(value);
}

void match_count(Case& c) {
  Grid &A = c.in("A", {4, 2}), &B = c.in("B", {2, 5}), &O = c.out_of("O", boolean, {4, 5});
  each({4, 5, 2}, [&](int i, int j, int k) {
    if (A(i, k) == B(k, j)) O(i, j) = 1;
  });
}

void one_hot(Case& c) {
  Grid &I = c.in_of("I", i32, {6}, 0, 4), &O = c.out("O", {6, 5});
  c.given("Classes", i32, {5}, {0, 1, 2, 3, 4});
  c.given("One", c.type, {5}, {1, 1, 1, 1, 1});
  each({6}, [&](int i) { O(i, static_cast<int>(I(i))) = 1; });
}

void cumulative_sum(Case& c) {
  Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
  each({9, 9}, [&](int i, int k) {
    if (k <= i) O(i) += I(k);
  });
}

void cumulative_sum_offset(Case& c) {
  Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
  each({9, 9}, [&](int i, int k) {
    if (k <= i) O(i) += I(k);
  });
}

void cumulative_sum_reversed(Case& c) {
  Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
  each({9, 9}, [&](int i, int k) {
    if (k >= i) O(i) += I(k);
  });
}

void cumulative_sum_exclusive(Case& c) {
  Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
  each({9, 9}, [&](int i, int k) {
    if (k < i) O(i) += I(k);
  });
}

void cumulative_product(Case& c) {
  Grid &I = c.in("I", {9}, -2, 2), &O = c.out_of("O", c.wide(), {9}, 1);
  each({9, 9}, [&](int i, int k) {
    if (k <= i) O(i) *= I(k);
  });
}

void cumulative_max(Case& c) {
  Grid &I = c.in("I", {9}, -9, -1), &O = c.out_of("O", c.type, {9}, -99);
  each({9, 9}, [&](int i, int k) {
    if (k <= i) O(i) = std::max(O(i), I(k));
  });
}

void cumulative_min(Case& c) {
  Grid &I = c.in("I", {9}, 1, 9), &O = c.out_of("O", c.type, {9}, 99);
  each({9, 9}, [&](int i, int k) {
    if (k <= i) O(i) = std::min(O(i), I(k));
  });
}

void moving_sum(Case& c) {
  Grid &I = c.in("I", {9}, -4, 4), &O = c.out_of("O", c.wide(), {9}, 0);
  each({9, 9}, [&](int i, int k) {
    if (k <= i && k > i - 3) O(i) += I(k);
  });
}

void cumulative_sum_rows(Case& c) {
  Grid &I = c.in("I", {3, 6}), &O = c.out_of("O", c.wide(), {3, 6});
  each({3, 6, 6}, [&](int m, int i, int k) {
    if (k <= i) O(m, i) += I(m, k);
  });
}

void integral_image(Case& c) {
  Grid &I = c.in("I", {4, 5}), &O = c.out_of("O", c.wide(), {4, 5});
  each({4, 5, 4, 5}, [&](int x, int y, int i, int j) {
    if (i <= x && j <= y) O(x, y) += I(i, j);
  });
}

}  // namespace

std::vector<ProgramCase> reduction_cases() {
  return {
      {"sum_axis0", &kNumbers, sum_axis0},
      {"product_axis0", &kNumbers, product_axis0},
      {"max_axis0", &kNumbers, max_axis0},
      {"min_axis0", &kNumbers, min_axis0},
      {"sum_axis1", &kNumbers, sum_axis1},
      {"product_axis1", &kNumbers, product_axis1},
      {"max_axis1", &kNumbers, max_axis1},
      {"min_axis1", &kNumbers, min_axis1},
      {"sum_all_dimensions", &kNumbers, sum_all_dimensions},
      {"sum_kept_dimension", &kSigned, sum_kept_dimension},
      {"variance", &kFloat, variance},
      {"norms", &kReal, norms},
      {"argmax", &kNumbers, argmax},
      {"argmin_first", &kNumbers, argmin_first},
      {"any_and_all", &kNumbers, any_and_all},
      {"count_truth", &kNumbers, count_truth},
      {"logsumexp", &kFloat, logsumexp},
      {"match_count", &kNumbers, match_count},
      {"one_hot", &kReal, one_hot},
      {"cumulative_sum", &kNumbers, cumulative_sum},
      {"cumulative_sum_offset", &kNumbers, cumulative_sum_offset},
      {"cumulative_sum_reversed", &kNumbers, cumulative_sum_reversed},
      {"cumulative_sum_exclusive", &kNumbers, cumulative_sum_exclusive},
      {"cumulative_product", &kSigned, cumulative_product},
      {"cumulative_max", &kSigned, cumulative_max},
      {"cumulative_min", &kNumbers, cumulative_min},
      {"moving_sum", &kNumbers, moving_sum},
      {"cumulative_sum_rows", &kNumbers, cumulative_sum_rows},
      {"integral_image", &kNumbers, integral_image},
  };
}

}  // namespace stria::end_to_end
