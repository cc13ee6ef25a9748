// SPDX-License-Identifier: Apache-2.0
#include "several_programs.h"

#include <fmt/format.h>

#include "stria/type/tensor_shape.h"

namespace stria::bench {
namespace {

SeveralProgram convolution(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t kernel,
                           DataType type) {
  return {fmt::format("convolution {0}x{1}x{1}x{2} to {3}, {4}x{4}, {5}", batch, size, in, out,
                      kernel, name_of(type)),
          "function convolution(I[N, Y, X, C], F[KY, KX, C, K], B[K]) -> (O) {\n"
          "  S[n, y, x, k : N, Y, X, K] =\n"
          "      +(I[n, y + j - KY / 2, x + i - KX / 2, c] * F[j, i, c, k]);\n"
          "  O = relu(S + B);\n}\n",
          {{"I", {type, {batch, size, size, in}}},
           {"F", {type, {kernel, kernel, in, out}}},
           {"B", {type, {out}}}}};
}

SeveralProgram product(int64_t m, int64_t n, int64_t k, DataType type) {
  return {fmt::format("product {}x{}x{}, {}", m, n, k, name_of(type)),
          "function product(A[M, K], B[K, N]) -> (C) {\n"
          "  C[m, n : M, N] = +(A[m, k] * B[k, n]);\n}\n",
          {{"A", {type, {m, k}}}, {"B", {type, {k, n}}}}};
}

}  // namespace

std::vector<SeveralProgram> several_programs(bool small) {
  if (small)
    return {convolution(8, 28, 32, 32, 3, DataType::fp32),
            convolution(7, 14, 64, 64, 3, DataType::fp32), product(1024, 512, 512, DataType::fp32),
            product(512, 1024, 512, DataType::fp32)};
  std::vector<SeveralProgram> out;
  for (const DataType type : {DataType::fp32, DataType::fp16}) {
    out.push_back(convolution(64, 56, 64, 64, 3, type));
    out.push_back(convolution(64, 28, 128, 128, 3, type));
    out.push_back(convolution(64, 14, 256, 256, 3, type));
    out.push_back(convolution(64, 56, 64, 256, 1, type));
    out.push_back(product(8192, 4096, 4096, type));
    out.push_back(product(16384, 2048, 2048, type));
    out.push_back(product(8192, 8192, 8192, type));
  }
  return out;
}

}  // namespace stria::bench
