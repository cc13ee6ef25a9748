// SPDX-License-Identifier: Apache-2.0
// Outputs that are written in part, under every aggregation.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

std::vector<ProgramCase> unwritten_cases() {
  return {
      {"skipped_sum", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -4, 4), &O = c.out_of("O", c.wide(), {8});
         each({4, 3}, [&](int i, int j) { O(2 * i) += I(i, j); });
       }},
      {"default_sum", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -4, 4), &D = c.in("D", {9}), &O = c.out("O", {9});
         O.values = D.values;
         each({4, 3}, [&](int i, int j) { O(2 * i + 1) = (j == 0 ? 0 : O(2 * i + 1)) + I(i, j); });
       }},
      {"skipped_product", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -2, 2), &O = c.out_of("O", c.wide(), {8});
         each({4, 3}, [&](int i, int j) { O(2 * i) = (j == 0 ? 1 : O(2 * i)) * I(i, j); });
       }},
      {"default_product", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -2, 2), &D = c.in("D", {9}), &O = c.out("O", {9});
         O.values = D.values;
         each({4, 3}, [&](int i, int j) { O(2 * i + 1) = (j == 0 ? 1 : O(2 * i + 1)) * I(i, j); });
       }},
      {"skipped_max", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -9, -1), &O = c.out_of("O", c.type, {8});
         each({4, 3},
              [&](int i, int j) { O(2 * i) = j == 0 ? I(i, j) : std::max(O(2 * i), I(i, j)); });
       }},
      {"default_max", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, -9, -1), &D = c.in("D", {9}), &O = c.out("O", {9});
         O.values = D.values;
         each({4, 3}, [&](int i, int j) {
           O(2 * i + 1) = j == 0 ? I(i, j) : std::max(O(2 * i + 1), I(i, j));
         });
       }},
      {"skipped_min", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, 1, 9), &O = c.out_of("O", c.type, {8});
         each({4, 3},
              [&](int i, int j) { O(2 * i) = j == 0 ? I(i, j) : std::min(O(2 * i), I(i, j)); });
       }},
      {"default_min", &kReal,
       [](Case& c) {
         Grid &I = c.in("I", {4, 3}, 1, 9), &D = c.in("D", {9}), &O = c.out("O", {9});
         O.values = D.values;
         each({4, 3}, [&](int i, int j) {
           O(2 * i + 1) = j == 0 ? I(i, j) : std::min(O(2 * i + 1), I(i, j));
         });
       }},
      {"skipped_assign", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {4}), &O = c.out("O", {12});
         each({4}, [&](int i) { O(3 * i + 1) = I(i); });
       }},
      {"default_assign", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {3}), &D = c.in("D", {7}), &O = c.out("O", {7});
         O.values = D.values;
         each({3}, [&](int i) { O(i + 2) = I(i); });
       }},
      {"truncated", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {8}), &O = c.out_of("O", c.wide(), {5});
         each({5}, [&](int i) { O(i) = I(i + 1); });
       }},
      {"infeasible", &kNumbers,
       [](Case& c) {
         c.in("I", {4}, 1, 9);
         c.out_of("S", c.wide(), {4}), c.out_of("P", c.wide(), {4}), c.out("T", {4}),
             c.out("B", {4}), c.out("A", {4});
       }},
      {"infeasible_default", &kNumbers,
       [](Case& c) {
         c.in("I", {4});
         Grid &D = c.in("D", {4}), &O = c.out("O", {4});
         O.values = D.values;
       }},
      {"diagonal_matrix", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5}), &O = c.out("O", {5, 5});
         each({5}, [&](int i) { O(i, i) = I(i); });
       }},
      {"negative_indices", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {6}), &O = c.out_of("O", c.wide(), {8});
         each({8}, [&](int x) { O(x) = I.get(3 - x); });
       }},
      {"zero_sized", &kNumbers,
       [](Case& c) {
         c.in("I", {3}), c.in("E", {0});
         c.out_of("S", c.wide(), {}), c.out_of("O", c.wide(), {3}), c.out("P", {0});
       }},
      {"band_of_output", &kNumbers,
       [](Case& c) {
         Grid &I = c.in("I", {5}), &K = c.in("K", {3}), &O = c.out_of("O", c.wide(), {5, 8});
         each({5, 3}, [&](int x, int k) { O(x, x + k) = I(x) * K(k); });
       }},
  };
}

}  // namespace stria::end_to_end
