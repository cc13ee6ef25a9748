// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/calibration_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stria::calibrate {
namespace {

class SetMaker {
 public:
  SetMaker(const HardwareModel& model, uint64_t device_bytes) : model_(model) {
    if (device_bytes > 0) most_bytes_ = static_cast<double>(device_bytes) / 8;
  }

  std::vector<CalibrationProgram> make() {
    const int64_t larger = growth();
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{96, 96, 96},
                                                                     {192, 384, 160},
                                                                     {311, 517, 253},
                                                                     {640, 640, 640},
                                                                     {48, 1500, 700},
                                                                     {1100, 72, 900},
                                                                     {8, 2000, 1200}}) {
      product(m, n, k, DataType::fp32);
      if (larger > 1) product(m * larger, n * larger, k * larger, DataType::fp32);
    }
    for (DataType type : {DataType::fp64, DataType::fp16, DataType::bf16, DataType::i32})
      if (model_.lacking_types.count(type) == 0) product(320, 288, 352, type);
    convolution(30, 3, 48, 72);
    convolution(50, 1, 80, 112);
    convolution(22, 5, 40, 56);
    if (larger > 1) {
      convolution(30, 3, 48 * larger, 72 * larger);
      convolution(50, 1, 80 * larger, 112 * larger);
    }
    for (double bytes : sizes()) {
      const int64_t rows = std::max<int64_t>(8, std::llround(std::sqrt(bytes / 8)) / 8 * 8);
      const std::map<std::string, TensorType> one = {{"A", fp32({rows, rows})}};
      const std::map<std::string, TensorType> two = {{"A", fp32({rows, rows})},
                                                     {"B", fp32({rows, rows})}};
      add(fmt::format("scale {}", rows), "function (A[M, N]) -> (O) { O = 1.5 * A + 0.5; }", one);
      add(fmt::format("add {}", rows), "function (A[M, N], B[M, N]) -> (O) { O = A + B; }", two);
      add(fmt::format("rows {}", rows), "function (A[M, N]) -> (O) { O[m : M] = +(A[m, n]); }",
          one);
      add(fmt::format("columns {}", rows), "function (A[M, N]) -> (O) { O[n : N] = +(A[m, n]); }",
          one);
      add(fmt::format("turn {}", rows),
          "function (A[M, N]) -> (O) { O[n, m : N, M] = =(A[m, n]); }", one);
    }
    const int64_t side = side_of(std::min(most_bytes_, 8e6));
    const std::map<std::string, TensorType> one = {{"A", fp32({side, side})}};
    add("exp", "function (A[M, N]) -> (O) { O = exp(A); }", one);
    add("tanh", "function (A[M, N]) -> (O) { O = tanh(A) * 0.5; }", one);
    add("polynomial",
        "function (A[M, N]) -> (O) { B = A * A; C = B * A + B; O = C * C + A * 0.25 - B; }", one);
    add("roots", "function (A[M, N]) -> (O) { O = 1.0 / sqrt(A * A + 1.0); }", one);
    add("softmax",
        "function (A[M, N]) -> (S) { X[m : M] = >(A[m, n]); E = exp(A - reshape(X, M, 1)); "
        "T[m : M] = +(E[m, n]); S = E / reshape(T, M, 1); }",
        one);
    add("normalize",
        "function (A[M, N]) -> (O) { S[m : M] = +(A[m, n]); C = A - reshape(S, M, 1) / N; "
        "Q = C * C; V[m : M] = +(Q[m, n]); O = C / sqrt(reshape(V, M, 1) / N + 0.001); }",
        one);
    add("pool",
        "function (A[H, W]) -> (O) { O[y, x : H / 2, W / 2] = >(A[2*y + i, 2*x + j]), i < 2, j < "
        "2; }",
        one);
    add("bias", "function (A[M, N], B[N]) -> (O) { O = max(A + B, 0.0); }",
        {{"A", fp32({side, side})}, {"B", fp32({side})}});
    add("little", "function (A[N]) -> (O) { O = A + 1.0; }", {{"A", fp32({64})}});
    return std::move(out_);
  }

 private:
  static TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }
  static int64_t side_of(double bytes) {
    return std::max<int64_t>(64, std::llround(std::sqrt(bytes / 4)) / 8 * 8 - 24);
  }

  // By how much sides of products grow, so that a wide machine is busy for as long as a processor
  // of two cores is with the smaller ones.
  int64_t growth() const {
    double operations = 0;
    for (const ExecutionUnit& unit : model_.executors)
      operations = std::max(operations, unit.ops_per_cycle * static_cast<double>(unit.count));
    constexpr double kTwoCores = 64;  // operations in a cycle, about
    return std::llround(std::clamp(std::cbrt(operations / kTwoCores) / 2, 1.0, 8.0));
  }

  // Bytes that a half of each cache holds, and more than all of them.
  std::vector<double> sizes() const {
    std::vector<double> out;
    double largest = 1 << 20;
    for (const MemoryUnit& memory : model_.memories)
      if (memory.policy == MemoryPolicy::lru && memory.size_bytes > 0) {
        out.push_back(static_cast<double>(memory.size_bytes) / 2);
        largest = std::max(largest, static_cast<double>(memory.size_bytes));
      }
    out.push_back(largest * 4);
    out.push_back(256e6);  // more than any cache
    for (double& bytes : out) bytes = std::clamp(bytes, 16384.0, std::min(most_bytes_, 512e6));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void add(std::string name, std::string text, std::map<std::string, TensorType> inputs) {
    out_.push_back({std::move(name), std::move(text), std::move(inputs)});
  }
  void product(int64_t m, int64_t n, int64_t k, DataType type) {
    if (static_cast<double>((m * k + k * n) * byte_size(type)) > most_bytes_) return;
    add(fmt::format("product {}x{}x{} {}", m, n, k, name_of(type)),
        "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }",
        {{"A", {type, {m, k}}}, {"B", {type, {k, n}}}});
  }
  void convolution(int64_t size, int64_t taps, int64_t in, int64_t out) {
    const int64_t pad = taps / 2;
    add(fmt::format("convolution {} of {} taps, {} to {}", size, taps, in, out),
        fmt::format(
            "function (I[N, Y, X, C], F[I0, J0, C, K]) -> (O) {{ O[n, y, x, k : N, Y, X, K] "
            "= +(I[n, y + i - {}, x + j - {}, c] * F[i, j, c, k]); }}",
            pad, pad),
        {{"I", fp32({1, size, size, in})}, {"F", fp32({taps, taps, in, out})}});
  }

  const HardwareModel& model_;
  double most_bytes_ = 256e6;
  std::vector<CalibrationProgram> out_;
};

}  // namespace

std::vector<CalibrationProgram> calibration_set(const HardwareModel& model, uint64_t device_bytes) {
  return SetMaker(model, device_bytes).make();
}

}  // namespace stria::calibrate
