// SPDX-License-Identifier: Apache-2.0
// A matrix product compiled with passes of one's own choice: the pipeline comes from a file, what
// it made is printed, run, and compared with what the device's own pipeline makes. Then the printed
// text is loaded again as it stands, which is how Stripe edited by hand is tried.
//   own_pipeline pipeline.json [device]
#include <stria/stria.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Small whole numbers: their sums are exact in any order.
std::vector<float> numbers(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t n = 0; n < count; ++n)
    values[n] = static_cast<float>(static_cast<int>(n) * step % 7 - 3);
  return values;
}

stria::Result<std::vector<float>> run(const stria::Device& device,
                                      const stria::Executable& executable,
                                      const std::vector<stria::Tensor>& inputs) {
  STRIA_ASSIGN(const stria::Tensor output, device.create_tensor(executable.outputs()[0]));
  STRIA_RETURN_IF_ERROR(executable.run(inputs, std::vector{output}).status());
  return output.read_values<float>();
}

stria::Status try_pipeline(const std::string& path, const std::string& selector) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const stria::Runtime runtime;
  STRIA_ASSIGN(const stria::Device device, runtime.open(selector));
  STRIA_ASSIGN(const stria::Program program, stria::Program::from_tile({"matmul.tile", R"(
      function matmul(A[M, L], B[L, N]) -> (C) {
          C[i, j : M, N] = +(A[i, k] * B[k, j]);
      })"}));
  STRIA_ASSIGN(const stria::Tensor a, device.create_tensor({48, 40}, numbers(48 * 40, 3)));
  STRIA_ASSIGN(const stria::Tensor b, device.create_tensor({40, 32}, numbers(40 * 32, 5)));
  const stria::InputTypes types = {{"A", a.tensor_type()}, {"B", b.tensor_type()}};

  STRIA_ASSIGN(const stria::Executable usual, device.compile(program, types));
  stria::CompileOptions options;
  options.pipeline = stria::SourceText{path, text.str()};
  options.keep_stages = true;
  STRIA_ASSIGN(const stria::Executable own, device.compile(program, types, options));
  for (const stria::SourceText& stage : own.stages())
    std::printf("stage %s, %zu bytes\n", stage.name.c_str(), stage.text.size());
  std::printf("%s", own.device_stripe().c_str());
  STRIA_ASSIGN(const stria::Executable again,
               device.load_stripe({"printed.stripe", own.device_stripe()}));

  STRIA_ASSIGN(const std::vector<float> expected, run(device, usual, {a, b}));
  STRIA_ASSIGN(const std::vector<float> with_own, run(device, own, {a, b}));
  STRIA_ASSIGN(const std::vector<float> with_text, run(device, again, {a, b}));
  if (with_own != expected || with_text != expected)
    return stria::Status(stria::StatusCode::data_loss, "the results differ");
  std::printf("all three give the same result on %s\n", device.info().name.c_str());
  return stria::Status();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: own_pipeline pipeline.json [device]\n");
    return 2;
  }
  const stria::Status status = try_pipeline(arguments[1], count > 2 ? arguments[2] : "auto");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
