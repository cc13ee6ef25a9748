// SPDX-License-Identifier: Apache-2.0
#include <stria/stria.h>

#include <cstdio>

int main(int count, char** arguments) {
  const stria::Runtime runtime;
  const stria::Device device = runtime.open(count > 1 ? arguments[1] : "auto").value();
  const stria::Tensor a = device.create_tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}).value();
  const stria::Tensor b = device.create_tensor<float>({3, 2}, {1, 0, 0, 1, 1, 1}).value();

  const char* text = R"(function matmul(A[M, L], B[L, N]) -> (C) {
                          C[i, j : M, N] = +(A[i, k] * B[k, j]);
                        })";
  const stria::Program program = stria::Program::from_tile({"matmul.tile", text}).value();
  const stria::Executable matmul =
      device.compile(program, {{"A", a.tensor_type()}, {"B", b.tensor_type()}}).value();

  const stria::Tensor c = device.create_tensor(matmul.outputs()[0]).value();
  const stria::Event run = matmul.run({a, b}, {c}).value();              // returns at once
  for (float x : c.read_values<float>().value()) std::printf("%g ", x);  // waits for the run
  std::printf("on %s\n", device.info().name.c_str());
  return run.wait().ok() ? 0 : 1;
}
