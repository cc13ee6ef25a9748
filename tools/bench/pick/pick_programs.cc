// SPDX-License-Identifier: Apache-2.0
#include "pick_programs.h"

#include <fmt/format.h>

namespace stria::bench {
namespace {

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

PickProgram product(int64_t m, int64_t n, int64_t k) {
  return {fmt::format("product {}x{}x{}", m, n, k),
          "function product(A[M, K], B[K, N]) -> (C) {\n"
          "  C[m, n : M, N] = +(A[m, k] * B[k, n]);\n}\n",
          {{"A", fp32({m, k})}, {"B", fp32({k, n})}}};
}

PickProgram convolution(int64_t size, int64_t in, int64_t out, int64_t kernel) {
  return {
      fmt::format("convolution {0}x{0}x{1} to {2}, {3}x{3}", size, in, out, kernel),
      "function convolution(I[Y, X, C], F[KY, KX, C, K], B[K]) -> (O) {\n"
      "  S[y, x, k : Y, X, K] = +(I[y + j - KY / 2, x + i - KX / 2, c] * F[j, i, c, k]);\n"
      "  O = relu(S + B);\n}\n",
      {{"I", fp32({size, size, in})}, {"F", fp32({kernel, kernel, in, out})}, {"B", fp32({out})}}};
}

PickProgram depthwise(int64_t size, int64_t channels) {
  return {fmt::format("depthwise {0}x{0}x{1}", size, channels),
          "function depthwise(I[Y, X, C], F[KY, KX, C]) -> (O) {\n"
          "  O[y, x, c : Y, X, C] = +(I[y + j - KY / 2, x + i - KX / 2, c] * F[j, i, c]);\n}\n",
          {{"I", fp32({size, size, channels})}, {"F", fp32({3, 3, channels})}}};
}

PickProgram sum_of_two(int64_t elements) {
  return {fmt::format("sum of two, {}", elements),
          "function sum_of_two(A, B) -> (C) { C = A + B; }\n",
          {{"A", fp32({elements})}, {"B", fp32({elements})}}};
}

PickProgram gelu(int64_t elements) {
  return {fmt::format("gelu, {}", elements),
          "function gelu(A) -> (C) {\n"
          "  C = 0.5 * A * (1 + tanh(0.79788456 * (A + 0.044715 * A * A * A)));\n}\n",
          {{"A", fp32({elements})}}};
}

PickProgram total(int64_t elements) {
  return {fmt::format("total, {}", elements),
          "function total(A[N]) -> (S) { S[] = +(A[i]); }\n",
          {{"A", fp32({elements})}}};
}

PickProgram softmax(int64_t rows, int64_t columns) {
  return {fmt::format("softmax {}x{}", rows, columns),
          "function softmax(A[M, N]) -> (P) {\n"
          "  T[m, 0 : M, 1] = >(A[m, n]);\n  E = exp(A - T);\n"
          "  S[m, 0 : M, 1] = +(E[m, n]);\n  P = E / S;\n}\n",
          {{"A", fp32({rows, columns})}}};
}

PickProgram mlp(int64_t rows, int64_t size, int64_t hidden) {
  return {fmt::format("mlp {}x{}x{}", rows, size, hidden),
          "function mlp(X[M, K], U[K, H], B[H], W[H, K]) -> (Y) {\n"
          "  T[m, h : M, H] = +(X[m, k] * U[k, h]);\n  R = relu(T + B);\n"
          "  Z[m, k : M, K] = +(R[m, h] * W[h, k]);\n  Y = X + Z;\n}\n",
          {{"X", fp32({rows, size})},
           {"U", fp32({size, hidden})},
           {"B", fp32({hidden})},
           {"W", fp32({hidden, size})}}};
}

PickProgram attention(int64_t heads, int64_t rows, int64_t size) {
  return {fmt::format("attention {}x{}x{}", heads, rows, size),
          "function attention(Q[H, M, D], K[H, N, D], V[H, N, D]) -> (O) {\n"
          "  S[h, m, n : H, M, N] = +(Q[h, m, d] * K[h, n, d]);\n"
          "  T[h, m, 0 : H, M, 1] = >(S[h, m, n]);\n  E = exp(S - T);\n"
          "  L[h, m, 0 : H, M, 1] = +(E[h, m, n]);\n"
          "  P[h, m, d : H, M, D] = +(E[h, m, n] * V[h, n, d]);\n  O = P / L;\n}\n",
          {{"Q", fp32({heads, rows, size})},
           {"K", fp32({heads, rows, size})},
           {"V", fp32({heads, rows, size})}}};
}

// A bottleneck block of a residual network.
PickProgram bottleneck(int64_t size, int64_t wide, int64_t narrow) {
  return {fmt::format("bottleneck {0}x{0}x{1}, {2}", size, wide, narrow),
          "function bottleneck(I[Y, X, C], U[C, K], F[KY, KX, K, L], W[L, C]) -> (O) {\n"
          "  A[y, x, k : Y, X, K] = +(I[y, x, c] * U[c, k]);\n  R = relu(A);\n"
          "  S[y, x, l : Y, X, L] = +(R[y + j - KY / 2, x + i - KX / 2, k] * F[j, i, k, l]);\n"
          "  T = relu(S);\n"
          "  Z[y, x, c : Y, X, C] = +(T[y, x, l] * W[l, c]);\n  O = relu(I + Z);\n}\n",
          {{"I", fp32({size, size, wide})},
           {"U", fp32({wide, narrow})},
           {"F", fp32({3, 3, narrow, narrow})},
           {"W", fp32({narrow, wide})}}};
}

}  // namespace

std::vector<PickProgram> pick_programs() {
  std::vector<PickProgram> out;
  for (const int64_t n : {8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048})
    out.push_back(product(n, n, n));
  for (const int64_t n : {64, 256, 1024, 4096}) out.push_back(product(1, n, n));
  for (const int64_t n : {64, 256, 1024}) out.push_back(product(128, n, 64));
  for (const auto& [size, in, to, kernel] : {std::tuple{7, 16, 16, 3},
                                             {14, 32, 32, 3},
                                             {28, 32, 64, 3},
                                             {14, 256, 256, 3},
                                             {56, 64, 64, 3},
                                             {28, 128, 128, 3},
                                             {56, 64, 256, 1},
                                             {14, 1024, 256, 1},
                                             {7, 512, 512, 3},
                                             {112, 16, 32, 3}})
    out.push_back(convolution(size, in, to, kernel));
  for (const auto& [size, channels] : {std::pair{14, 96}, {56, 144}, {112, 64}})
    out.push_back(depthwise(size, channels));
  for (const int64_t n : {256, 4096, 65536, 262144, 1048576, 8388608}) out.push_back(sum_of_two(n));
  for (const int64_t n : {4096, 65536, 1048576}) out.push_back(gelu(n));
  for (const int64_t n : {65536, 4194304}) out.push_back(total(n));
  for (const auto& [rows, columns] : {std::pair{16, 64}, {128, 1024}, {1024, 1024}, {4096, 256}})
    out.push_back(softmax(rows, columns));
  for (const auto& [rows, size, hidden] :
       {std::tuple{1, 256, 1024}, {16, 64, 256}, {64, 256, 1024}, {128, 768, 3072}})
    out.push_back(mlp(rows, size, hidden));
  for (const auto& [heads, rows, size] :
       {std::tuple{1, 32, 32}, {2, 64, 64}, {8, 128, 64}, {12, 384, 64}})
    out.push_back(attention(heads, rows, size));
  for (const auto& [size, wide, narrow] :
       {std::tuple{7, 64, 16}, {14, 256, 64}, {28, 512, 128}, {56, 256, 64}})
    out.push_back(bottleneck(size, wide, narrow));
  return out;
}

}  // namespace stria::bench
