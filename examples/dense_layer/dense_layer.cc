// SPDX-License-Identifier: Apache-2.0
// Dense layers written in C++ instead of Tile text: as many as the widths on the command line say.
//   dense_layer DEVICE [WIDTH…]
#include <stria/edsl.h>
#include <stria/stria.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace edsl = stria::edsl;

namespace {

// relu(X W + B), the layer's inputs W and B added to `inputs`.
edsl::Tensor layer(const std::string& number, const edsl::Tensor& x, const edsl::Dim& rows,
                   const edsl::Dim& width, const edsl::Dim& next,
                   std::vector<edsl::Input>& inputs) {
  const edsl::Tensor w = edsl::input("W" + number, width, next);
  const edsl::Tensor b = edsl::input("B" + number, next);
  inputs.insert(inputs.end(), {w, b});
  const edsl::Index n("n"), i("i"), o("o");
  edsl::Tensor product("XW" + number, rows, next);
  product(n, o) += x(n, i) * w(i, o);
  return edsl::named("Y" + number, relu(product + b));
}

stria::Result<stria::Program> network(size_t layers) {
  const edsl::Dim rows("N");
  edsl::Dim width("D0");
  edsl::Tensor x = edsl::input("X", rows, width);
  std::vector<edsl::Input> inputs = {x};
  for (size_t l = 1; l <= layers; ++l) {
    const std::string number = std::to_string(l);
    const edsl::Dim next("D" + number);
    x = layer(number, x, rows, width, next, inputs);
    width = next;
  }
  return edsl::program("network", inputs, {x});
}

stria::Status run(const std::string& selector, const std::vector<int64_t>& widths) {
  STRIA_ASSIGN(const stria::Program program, network(widths.size() - 1));
  std::printf("%s", program.text().c_str());

  const stria::Runtime runtime;
  STRIA_ASSIGN(const stria::Device device, runtime.open(selector));
  std::vector<stria::Tensor> tensors;
  stria::InputTypes types;
  const auto add = [&](std::vector<int64_t> sizes, float value) -> stria::Status {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    const std::vector<float> values(static_cast<size_t>(count), value);
    STRIA_ASSIGN(stria::Tensor tensor, device.create_tensor<float>(std::move(sizes), values));
    types[program.inputs()[tensors.size()].name] = tensor.tensor_type();
    tensors.push_back(std::move(tensor));
    return {};
  };
  STRIA_RETURN_IF_ERROR(add({2, widths[0]}, 1));
  for (size_t l = 1; l < widths.size(); ++l) {
    STRIA_RETURN_IF_ERROR(add({widths[l - 1], widths[l]}, 0.5f));
    STRIA_RETURN_IF_ERROR(add({widths[l]}, -1));
  }

  STRIA_ASSIGN(const stria::Executable executable, device.compile(program, types));
  STRIA_ASSIGN(const stria::Tensor y, device.create_tensor(executable.outputs()[0]));
  const std::vector<stria::Tensor> outputs = {y};
  STRIA_ASSIGN(const stria::Event done, executable.run(tensors, outputs));
  STRIA_ASSIGN(const std::vector<float> values, y.read_values<float>());  // waits for the run
  for (float value : values) std::printf("%g ", value);
  std::printf("on %s\n", device.info().name.c_str());
  return done.wait();
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<int64_t> widths;
  for (int i = 2; i < count; ++i) widths.push_back(std::atoll(arguments[i]));
  if (widths.size() < 2) widths = {8, 4, 3};
  const stria::Status status = run(count > 1 ? arguments[1] : "auto", widths);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
