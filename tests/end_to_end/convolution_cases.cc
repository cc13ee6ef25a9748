// SPDX-License-Identifier: Apache-2.0
// Convolutions of one to three dimensions, and their gradients.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void conv1d_same(Case& c) {
  Grid &I = c.in("I", {2, 7, 3}), &K = c.in("K", {3, 3, 4});
  Grid& O = c.out_of("O", c.wide(), {2, 7, 4});
  each({2, 7, 4, 3, 3}, [&](int n, int x, int co, int k, int ci) {
    O(n, x, co) += I.get(n, x + k - 1, ci) * K(k, ci, co);
  });
}

void conv1d_stride2(Case& c) {
  Grid &I = c.in("I", {2, 9, 3}), &K = c.in("K", {3, 3, 4});
  Grid& O = c.out_of("O", c.wide(), {2, 4, 4});
  each({2, 4, 4, 3, 3}, [&](int n, int x, int co, int k, int ci) {
    O(n, x, co) += I(n, 2 * x + k, ci) * K(k, ci, co);
  });
}

void conv1d_stride3_padded(Case& c) {
  Grid &I = c.in("I", {11, 2}), &K = c.in("K", {5, 2, 3});
  Grid& O = c.out_of("O", c.wide(), {4, 3});
  each({4, 3, 5, 2},
       [&](int x, int co, int k, int ci) { O(x, co) += I.get(3 * x + k - 2, ci) * K(k, ci, co); });
}

void conv1d_dilated(Case& c) {
  Grid &I = c.in("I", {12, 2}), &K = c.in("K", {3, 2, 3});
  Grid& O = c.out_of("O", c.wide(), {6, 3});
  each({6, 3, 3, 2},
       [&](int x, int co, int k, int ci) { O(x, co) += I(x + 3 * k, ci) * K(k, ci, co); });
}

void conv1d_causal(Case& c) {
  Grid &I = c.in("I", {9, 2}), &K = c.in("K", {3, 2, 3});
  Grid& O = c.out_of("O", c.wide(), {9, 3});
  each({9, 3, 3, 2},
       [&](int x, int co, int k, int ci) { O(x, co) += I.get(x - 2 * k, ci) * K(k, ci, co); });
}

void conv1d_one_channel(Case& c) {
  Grid &I = c.in("I", {33}), &K = c.in("K", {5}), &O = c.out_of("O", c.wide(), {29});
  each({29, 5}, [&](int x, int k) { O(x) += I(x + k) * K(k); });
}

void conv1d_flipped(Case& c) {
  Grid &I = c.in("I", {10}), &K = c.in("K", {4}), &O = c.out_of("O", c.wide(), {13});
  each({13, 4}, [&](int x, int k) { O(x) += I.get(x - k) * K(k); });
}

void conv1d_stride_dilation(Case& c) {
  Grid &I = c.in("I", {14, 2}), &K = c.in("K", {3, 2, 3});
  Grid& O = c.out_of("O", c.wide(), {4, 3});
  each({4, 3, 3, 2},
       [&](int x, int co, int k, int ci) { O(x, co) += I(2 * x + 3 * k, ci) * K(k, ci, co); });
}

void conv2d_valid(Case& c) {
  Grid &I = c.in("I", {2, 6, 5, 3}), &K = c.in("K", {3, 2, 3, 4});
  Grid& O = c.out_of("O", c.wide(), {2, 4, 4, 4});
  each({2, 4, 4, 4, 3, 2, 3}, [&](int n, int x, int y, int co, int i, int j, int ci) {
    O(n, x, y, co) += I(n, x + i, y + j, ci) * K(i, j, ci, co);
  });
}

void conv2d_same(Case& c) {
  Grid &I = c.in("I", {1, 6, 5, 3}), &K = c.in("K", {3, 3, 3, 4});
  Grid& O = c.out_of("O", c.wide(), {1, 6, 5, 4});
  each({1, 6, 5, 4, 3, 3, 3}, [&](int n, int x, int y, int co, int i, int j, int ci) {
    O(n, x, y, co) += I.get(n, x + i - 1, y + j - 1, ci) * K(i, j, ci, co);
  });
}

void conv2d_nchw(Case& c) {
  Grid &I = c.in("I", {2, 3, 5, 6}), &K = c.in("K", {4, 3, 3, 3});
  Grid& O = c.out_of("O", c.wide(), {2, 4, 3, 4});
  each({2, 4, 3, 4, 3, 3, 3}, [&](int n, int co, int x, int y, int ci, int i, int j) {
    O(n, co, x, y) += I(n, ci, x + i, y + j) * K(co, ci, i, j);
  });
}

void conv2d_stride2(Case& c) {
  Grid &I = c.in("I", {1, 7, 6, 3}), &K = c.in("K", {3, 3, 3, 2});
  Grid& O = c.out_of("O", c.wide(), {1, 4, 3, 2});
  each({1, 4, 3, 2, 3, 3, 3}, [&](int n, int x, int y, int co, int i, int j, int ci) {
    O(n, x, y, co) += I.get(n, 2 * x + i - 1, 2 * y + j - 1, ci) * K(i, j, ci, co);
  });
}

void conv2d_uneven_stride(Case& c) {
  Grid &I = c.in("I", {1, 5, 8, 2}), &K = c.in("K", {2, 2, 2, 2});
  Grid& O = c.out_of("O", c.wide(), {1, 4, 3, 2});
  each({1, 4, 3, 2, 2, 2, 2}, [&](int n, int x, int y, int co, int i, int j, int ci) {
    O(n, x, y, co) += I(n, x + i, 3 * y + j, ci) * K(i, j, ci, co);
  });
}

void conv2d_pointwise(Case& c) {
  Grid &I = c.in("I", {2, 3, 4, 5}), &K = c.in("K", {5, 6});
  Grid& O = c.out_of("O", c.wide(), {2, 3, 4, 6});
  each({2, 3, 4, 6, 5},
       [&](int n, int x, int y, int co, int ci) { O(n, x, y, co) += I(n, x, y, ci) * K(ci, co); });
}

void conv2d_grouped(Case& c) {
  Grid &I = c.in("I", {1, 4, 5, 3, 2}), &K = c.in("K", {2, 2, 3, 2, 2});
  Grid& O = c.out_of("O", c.wide(), {1, 3, 4, 3, 2});
  each({3, 4, 3, 2, 2, 2, 2}, [&](int x, int y, int g, int co, int i, int j, int ci) {
    O(0, x, y, g, co) += I(0, x + i, y + j, g, ci) * K(i, j, g, ci, co);
  });
}

void conv2d_grouped_flat(Case& c) {
  Grid &I = c.in("I", {2, 5, 6}), &K = c.in("K", {2, 3, 4}),
       &O = c.out_of("O", c.wide(), {2, 4, 4});
  each({2, 4, 2, 2, 2, 3}, [&](int n, int x, int g, int co, int i, int ci) {
    O(n, x, 2 * g + co) += I(n, x + i, 3 * g + ci) * K(i, ci, 2 * g + co);
  });
}

void conv2d_depthwise(Case& c) {
  Grid &I = c.in("I", {1, 5, 6, 4}), &K = c.in("K", {3, 3, 4});
  Grid& O = c.out_of("O", c.wide(), {1, 5, 6, 4});
  each({5, 6, 4, 3, 3}, [&](int x, int y, int ch, int i, int j) {
    O(0, x, y, ch) += I.get(0, x + i - 1, y + j - 1, ch) * K(i, j, ch);
  });
}

void conv2d_depthwise_multiplier(Case& c) {
  Grid &I = c.in("I", {1, 5, 7, 3}), &K = c.in("K", {3, 3, 3, 2});
  Grid& O = c.out_of("O", c.wide(), {1, 2, 3, 6});
  each({2, 3, 3, 2, 3, 3}, [&](int x, int y, int ch, int m, int i, int j) {
    O(0, x, y, 2 * ch + m) += I(0, 2 * x + i, 2 * y + j, ch) * K(i, j, ch, m);
  });
}

void conv3d_valid(Case& c) {
  Grid &I = c.in("I", {4, 4, 5, 2}), &K = c.in("K", {2, 3, 2, 2, 2});
  Grid& O = c.out_of("O", c.wide(), {3, 2, 4, 2});
  each({3, 2, 4, 2, 2, 3, 2, 2}, [&](int x, int y, int z, int co, int i, int j, int k, int ci) {
    O(x, y, z, co) += I(x + i, y + j, z + k, ci) * K(i, j, k, ci, co);
  });
}

void conv3d_stride_dilation_padded(Case& c) {
  Grid &I = c.in("I", {5, 6, 4}), &K = c.in("K", {3, 2, 3}),
       &O = c.out_of("O", c.wide(), {2, 4, 4});
  each({2, 4, 4, 3, 2, 3}, [&](int x, int y, int z, int i, int j, int k) {
    O(x, y, z) += I.get(2 * x + i, y + 2 * j, z + k - 1) * K(i, j, k);
  });
}

void conv1d_transposed_scatter(Case& c) {
  Grid &I = c.in("I", {5, 3}), &K = c.in("K", {3, 3, 2}), &O = c.out_of("O", c.wide(), {11, 2});
  each({5, 3, 3, 2},
       [&](int x, int k, int ci, int co) { O(2 * x + k, co) += I(x, ci) * K(k, ci, co); });
}

void conv1d_transposed_gather(Case& c) {
  Grid &I = c.in("I", {5, 3}), &K = c.in("K", {3, 3, 2}), &O = c.out_of("O", c.wide(), {11, 2});
  each({5, 3, 3, 2},
       [&](int x, int k, int ci, int co) { O(2 * x + k, co) += I(x, ci) * K(k, ci, co); });
}

void conv1d_transposed_gaps(Case& c) {
  Grid &I = c.in("I", {5}), &K = c.in("K", {2}), &O = c.out_of("O", c.wide(), {15});
  each({5, 2}, [&](int x, int k) { O(3 * x + k) += I(x) * K(k); });
}

void conv2d_transposed(Case& c) {
  Grid &I = c.in("I", {1, 3, 4, 2}), &K = c.in("K", {4, 4, 2, 2}),
       &O = c.out_of("O", c.wide(), {1, 6, 8, 2});
  each({3, 4, 4, 4, 2, 2}, [&](int x, int y, int i, int j, int ci, int co) {
    if (O.has(0, 2 * x + i - 1, 2 * y + j - 1, co))
      O(0, 2 * x + i - 1, 2 * y + j - 1, co) += I(0, x, y, ci) * K(i, j, ci, co);
  });
}

void conv1d_grad_input(Case& c) {
  Grid &D = c.in("DO", {4, 2}), &K = c.in("K", {3, 3, 2}), &O = c.out_of("O", c.wide(), {14, 3});
  c.in("I", {14, 3});
  each({4, 3, 3, 2},
       [&](int x, int k, int ci, int co) { O(2 * x + 3 * k, ci) += D(x, co) * K(k, ci, co); });
}

void conv1d_grad_weight(Case& c) {
  Grid &D = c.in("DO", {2, 4, 2}), &I = c.in("I", {2, 9, 3}),
       &O = c.out_of("O", c.wide(), {3, 3, 2});
  c.in("K", {3, 3, 2});
  each({2, 4, 2, 3, 3}, [&](int n, int x, int co, int k, int ci) {
    O(k, ci, co) += D(n, x, co) * I(n, 2 * x + k, ci);
  });
}

void conv2d_grad_input_no_defract(Case& c) {
  Grid &D = c.in("DO", {3, 2}), &K = c.in("K", {3, 2}), &O = c.out_of("O", c.wide(), {7, 6});
  c.in("I", {7, 6});
  each({3, 2, 3, 2},
       [&](int x, int y, int i, int j) { O(2 * x + i, 3 * y + j) += D(x, y) * K(i, j); });
}

void conv2d_separable(Case& c) {
  Grid &I = c.in("I", {4, 5, 3}, -1, 1), &D = c.in("D", {2, 2, 3}, -1, 1),
       &P = c.in("P", {3, 2}, -1, 1);
  Grid& O = c.out_of("O", c.wide(), {3, 4, 2});
  each({3, 4, 2, 3, 2, 2}, [&](int x, int y, int co, int ch, int i, int j) {
    O(x, y, co) += I(x + i, y + j, ch) * D(i, j, ch) * P(ch, co);
  });
}

void winograd_2x2_3x3(Case& c) {
  Grid &I = c.in("I", {8, 6}), &K = c.in("K", {3, 3}), &O = c.out("O", {6, 4});
  c.given("BT", c.type, {4, 4}, {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1});
  c.given("G", c.type, {4, 3}, {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1});
  c.given("AT", c.type, {2, 4}, {1, 1, 1, 0, 0, 1, -1, -1});
  each({6, 4, 3, 3}, [&](int x, int y, int i, int j) { O(x, y) += I(x + i, y + j) * K(i, j); });
}

}  // namespace

std::vector<ProgramCase> convolution_cases() {
  return {
      {"conv1d_same", &kNumbers, conv1d_same},
      {"conv1d_stride2", &kNumbers, conv1d_stride2},
      {"conv1d_stride3_padded", &kNumbers, conv1d_stride3_padded},
      {"conv1d_dilated", &kNumbers, conv1d_dilated},
      {"conv1d_causal", &kNumbers, conv1d_causal},
      {"conv1d_one_channel", &kNumbers, conv1d_one_channel},
      {"conv1d_flipped", &kNumbers, conv1d_flipped},
      {"conv1d_stride_dilation", &kNumbers, conv1d_stride_dilation},
      {"conv2d_valid", &kNumbers, conv2d_valid},
      {"conv2d_same", &kNumbers, conv2d_same},
      {"conv2d_nchw", &kNumbers, conv2d_nchw},
      {"conv2d_stride2", &kNumbers, conv2d_stride2},
      {"conv2d_uneven_stride", &kNumbers, conv2d_uneven_stride},
      {"conv2d_pointwise", &kNumbers, conv2d_pointwise},
      {"conv2d_grouped", &kNumbers, conv2d_grouped},
      {"conv2d_grouped_flat", &kNumbers, conv2d_grouped_flat},
      {"conv2d_depthwise", &kNumbers, conv2d_depthwise},
      {"conv2d_depthwise_multiplier", &kNumbers, conv2d_depthwise_multiplier},
      {"conv3d_valid", &kNumbers, conv3d_valid},
      {"conv3d_stride_dilation_padded", &kNumbers, conv3d_stride_dilation_padded},
      {"conv1d_transposed_scatter", &kNumbers, conv1d_transposed_scatter},
      {"conv1d_transposed_gather", &kNumbers, conv1d_transposed_gather},
      {"conv1d_transposed_gaps", &kNumbers, conv1d_transposed_gaps},
      {"conv2d_transposed", &kNumbers, conv2d_transposed},
      {"conv1d_grad_input", &kNumbers, conv1d_grad_input},
      {"conv1d_grad_weight", &kNumbers, conv1d_grad_weight},
      {"conv2d_grad_input_no_defract", &kNumbers, conv2d_grad_input_no_defract},
      {"conv2d_separable", &kSigned, conv2d_separable},
      {"winograd_2x2_3x3", &kFloat, winograd_2x2_3x3},
  };
}

}  // namespace stria::end_to_end
