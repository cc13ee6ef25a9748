// SPDX-License-Identifier: Apache-2.0
// A program of several kernels with inputs and an output of its own, for tests of what a device
// does with it: a product, and the softmax of its rows.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "chosen_device.h"
#include "stria/base/status.h"
#include "stria/runtime/runtime.h"

namespace stria {

// A runtime with the one plugin in `folder`, for which `options` is a JSON object.
inline Runtime runtime_with(const std::filesystem::path& folder,
                            const std::string& options = "{}") {
  RuntimeOptions all;
  all.plugin_paths = {folder};
  all.only_plugin_paths = true;
  all.plugin_options[folder.filename().string()] = options;
  return Runtime(all);
}

// Compiles the program and runs it: ok if every element is right.
inline Status run_small_program(const Device& device) {
  constexpr int64_t kRows = 70, kDepth = 33, kColumns = 96;
  STRIA_ASSIGN(const Program program,
               Program::from_tile({"small.tile",
                                   "function (A[M, K], B[K, N]) -> (R) {\n"
                                   "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"
                                   "  Top[i, 0 : M, 1] = >(C[i, j]);\n"
                                   "  E = exp(C - Top);\n"
                                   "  Sum[i, 0 : M, 1] = +(E[i, j]);\n"
                                   "  R = E / Sum;\n"
                                   "}\n"}));
  std::vector<float> a(kRows * kDepth), b(kDepth * kColumns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) / 8 - 0.25f;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 11) / 16 - 0.125f;
  STRIA_ASSIGN(const Executable executable,
               device.compile(program, {{"A", {DataType::fp32, {kRows, kDepth}}},
                                        {"B", {DataType::fp32, {kDepth, kColumns}}}}));
  STRIA_ASSIGN(const Tensor in_a, device.create_tensor({kRows, kDepth}, a));
  STRIA_ASSIGN(const Tensor in_b, device.create_tensor({kDepth, kColumns}, b));
  STRIA_ASSIGN(const Tensor out, device.create_tensor(DataType::fp32, {kRows, kColumns}));
  STRIA_ASSIGN(const Event done, executable.run({in_a, in_b}, {out}));
  STRIA_RETURN_IF_ERROR(done.wait());
  STRIA_ASSIGN(const std::vector<float> got, out.read_values<float>());
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<double> expected(kColumns);
    double sum = 0;
    for (int64_t column = 0; column < kColumns; ++column) {
      double product = 0;
      for (int64_t k = 0; k < kDepth; ++k)
        product += double{a[static_cast<size_t>(row * kDepth + k)]} *
                   double{b[static_cast<size_t>(k * kColumns + column)]};
      sum += expected[static_cast<size_t>(column)] = std::exp(product);
    }
    for (int64_t column = 0; column < kColumns; ++column) {
      const double want = expected[static_cast<size_t>(column)] / sum;
      const double have = got[static_cast<size_t>(row * kColumns + column)];
      if (!(std::fabs(have - want) <= 1e-5 * want))
        return make_error(StatusCode::data_loss, "element [{}, {}] is {}, not {}", row, column,
                          have, want);
    }
  }
  return {};
}

}  // namespace stria
