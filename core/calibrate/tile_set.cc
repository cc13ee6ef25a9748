// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/tile_set.h"

#include <fmt/format.h>

namespace stria::calibrate {
namespace {

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

TileProgram product(int64_t m, int64_t n, int64_t k, bool transposed) {
  return {
      {fmt::format("product {}x{}x{}{}", m, n, k, transposed ? ", B transposed" : ""),
       fmt::format("function (A[M, K], B[{}]) -> (C) {{ C[m, n : M, N] = +(A[m, k] * B[{}]); }}",
                   transposed ? "N, K" : "K, N", transposed ? "n, k" : "k, n"),
       {{"A", fp32({m, k})}, {"B", transposed ? fp32({n, k}) : fp32({k, n})}}},
      "B"};
}

// One image, channels innermost, padded so that a stride of 1 keeps its size. 0 `outputs`: each
// channel by itself.
TileProgram convolution(int64_t size, int64_t channels, int64_t taps, int64_t stride,
                        int64_t outputs) {
  const int64_t pad = taps / 2, to = (size + 2 * pad - taps) / stride + 1;
  const bool each = outputs == 0;
  return {{fmt::format("convolution {} of {} taps, {} to {}, stride {}", size, taps, channels,
                       each ? "the same" : std::to_string(outputs), stride),
           fmt::format(
               "function (I[N, Y, X, C], F[P, Q, {0}]) -> (O) {{ O[n, y, x, {1} : N, {2}, "
               "{2}, {3}] = +(I[n, {4} * y + i - {5}, {4} * x + j - {5}, c] * F[i, j, {6}]); }}",
               each ? "C" : "C, K", each ? "c" : "k", to, each ? "C" : "K", stride, pad,
               each ? "c" : "c, k"),
           {{"I", fp32({1, size, size, channels})},
            {"F", each ? fp32({taps, taps, channels}) : fp32({taps, taps, channels, outputs})}}},
          "F"};
}

}  // namespace

std::vector<TileProgram> tile_set() {
  return {product(80, 112, 90, false),     product(53, 77, 61, false),
          product(192, 384, 160, false),   product(311, 517, 253, false),
          product(48, 700, 1500, false),   product(1100, 72, 500, false),
          product(6, 800, 1200, false),    product(1, 2500, 700, false),
          product(96, 90, 72, true),       product(150, 400, 300, true),
          convolution(30, 48, 3, 1, 72),   convolution(40, 80, 1, 1, 112),
          convolution(22, 40, 5, 1, 56),   convolution(64, 3, 5, 2, 24),
          convolution(12, 160, 3, 1, 144), convolution(40, 96, 1, 2, 160),
          convolution(13, 96, 3, 1, 100),  convolution(40, 96, 3, 1, 0),
          convolution(30, 192, 3, 2, 0),   convolution(16, 320, 3, 1, 0)};
}

}  // namespace stria::calibrate
