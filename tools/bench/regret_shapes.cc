// SPDX-License-Identifier: Apache-2.0
#include "regret_shapes.h"

#include <fmt/format.h>

namespace stria::bench {
namespace {

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

// M x N outputs, each the sum of K products; `transposed`: B as [N, K].
RegretShape product(int64_t m, int64_t n, int64_t k, bool transposed = false) {
  RegretShape out;
  out.name = fmt::format("gemm {}x{}x{}{}", m, n, k, transposed ? " B^T" : "");
  out.text = transposed ? "function (A[M, K], B[N, K]) -> (C) {\n"
                          "  C[i, j : M, N] = +(A[i, k] * B[j, k]);\n}\n"
                        : "function (A[M, K], B[K, N]) -> (C) {\n"
                          "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n}\n";
  out.inputs = {{"A", fp32({m, k})}, {"B", transposed ? fp32({n, k}) : fp32({k, n})}};
  out.operations = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  out.weights = "B";
  return out;
}

struct Convolution {
  int64_t size, channels, kernel, stride, outputs;
  bool depthwise = false;
};

// One image of `size` x `size`, channels innermost, padded so that stride 1 keeps its size.
RegretShape convolution(const Convolution& c) {
  const int64_t pad = c.kernel / 2, out_size = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  RegretShape out;
  out.name = fmt::format("{} {}x{}x{} {}x{}/{} {}", c.depthwise ? "depthwise" : "conv", c.size,
                         c.size, c.channels, c.kernel, c.kernel, c.stride, c.outputs);
  out.text = fmt::format(
      "function (I[N, H, W, C], F[KH, KW, {0}]) -> (O) {{\n"
      "  O[n, y, x, {1} : N, {2}, {2}, {3}] = +(I[n, {4}*y + i - {5}, {4}*x + j - {5}, c] * "
      "F[i, j, {6}]);\n}}\n",
      c.depthwise ? "C" : "C, K", c.depthwise ? "c" : "k", out_size, c.depthwise ? "C" : "K",
      c.stride, pad, c.depthwise ? "c" : "c, k");
  out.inputs = {{"I", fp32({1, c.size, c.size, c.channels})},
                {"F", c.depthwise ? fp32({c.kernel, c.kernel, c.channels})
                                  : fp32({c.kernel, c.kernel, c.channels, c.outputs})}};
  out.weights = "F";
  out.operations = 2.0 * static_cast<double>(out_size * out_size * c.outputs) *
                   static_cast<double>(c.kernel * c.kernel * (c.depthwise ? 1 : c.channels));
  return out;
}

}  // namespace

std::vector<RegretShape> regret_shapes() {
  std::vector<RegretShape> out;
  constexpr int64_t kProducts[][3] = {
      {64, 64, 64},       {100, 100, 100},  {127, 131, 137},  {256, 256, 256},  {512, 512, 512},
      {1024, 1024, 1024}, {3136, 64, 576},  {784, 128, 1152}, {196, 256, 2304}, {49, 512, 4608},
      {128, 3072, 768},   {128, 768, 3072}, {7, 1000, 2048},  {1, 4096, 1024},  {1000, 40, 300},
      {333, 24, 500},     {48, 48, 4000}};
  for (const auto& [m, n, k] : kProducts) out.push_back(product(m, n, k));
  out.push_back(product(128, 128, 64, true));
  out.push_back(product(200, 1000, 512, true));
  out.push_back(product(5, 500, 1000, true));
  constexpr Convolution kConvolutions[] = {
      {224, 3, 7, 2, 64},         {56, 64, 1, 1, 64},        {56, 64, 3, 1, 64},
      {56, 64, 1, 1, 256},        {56, 256, 1, 2, 128},      {28, 128, 3, 1, 128},
      {28, 128, 1, 1, 512},       {28, 512, 1, 1, 128},      {28, 256, 3, 2, 256},
      {14, 256, 3, 1, 256},       {14, 256, 1, 1, 1024},     {14, 1024, 1, 1, 256},
      {7, 512, 3, 1, 512},        {7, 2048, 1, 1, 512},      {112, 32, 3, 1, 24},
      {35, 48, 5, 1, 64},         {17, 160, 3, 1, 192},      {27, 96, 5, 1, 100},
      {56, 128, 3, 1, 128, true}, {28, 256, 3, 2, 256, true}};
  for (const Convolution& c : kConvolutions) out.push_back(convolution(c));
  return out;
}

}  // namespace stria::bench
