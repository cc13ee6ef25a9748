// SPDX-License-Identifier: Apache-2.0
// What a derivative costs on llvm_cpu: the time of a convolution with its gradient over that of the
// convolution alone, and time and memory of the training step of examples/train_convnet.
#include <cstdio>
#include <string>
#include <vector>

#include "measure.h"
#include "must.h"
#include "stria/base/file.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/stria.h"

namespace stria::bench {
namespace {

// A program with tensors of its own: inputs with small numbers, outputs.
struct Loaded {
  Executable executable;
  std::vector<Tensor> inputs, outputs;
  void run() const { must(must(executable.run(inputs, outputs)).wait()); }
};

Loaded load(const Device& device, const Program& program, const InputTypes& types) {
  Loaded out{must(device.compile(program, types)), {}, {}};
  uint32_t state = 1;
  for (const TensorInfo& info : out.executable.inputs()) {
    Tensor tensor = must(device.create_tensor(info));
    std::vector<float> values(static_cast<size_t>(tensor.element_count()));
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    must(tensor.write_values(values));
    out.inputs.push_back(tensor);
  }
  for (const TensorInfo& info : out.executable.outputs())
    out.outputs.push_back(must(device.create_tensor(info)));
  return out;
}

// In KiB: the caller's tensors, and what a run needs between its kernels (of that, what is alive at
// once, and what it would be if no two tensors shared memory).
void print_memory(const char* name, const Device& device, const Loaded& program) {
  uint64_t callers = 0;
  for (const Tensor& tensor : program.inputs) callers += tensor.byte_count();
  for (const Tensor& tensor : program.outputs) callers += tensor.byte_count();
  const Compilation& compilation = Inside::compilation(program.executable);
  const exec::LoadedProgram loaded =
      must(CompileDriver::build(device, compilation.device, compilation.device_text));
  const exec::Plan& plan = loaded.plan();
  uint64_t apart = 0;
  for (const exec::PlannedTensor& tensor : plan.tensors)
    if (tensor.role == exec::TensorRole::temporary) apart += tensor.bytes;
  auto kib = [](uint64_t bytes) { return static_cast<double>(bytes) / 1024; };
  std::printf(
      "%-46s %10.1f KiB      peak: %.1f of inputs and results, %.1f of temporaries in %zu "
      "kernels\n",
      name, kib(callers + plan.main.arena_bytes), kib(callers), kib(plan.main.arena_bytes),
      plan.main.kernels.size());
  std::printf("%-46s %10.1f KiB      alive at once; %.1f if none shared memory\n",
              "  its temporaries", kib(plan.main.live_bytes), kib(apart));
}

void convolution(const Device& device, int64_t count, int64_t size, int64_t channels) {
  const Program forward = must(Program::from_tile({"convolution.tile", R"(
      function convolution(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
        O[n, y, x, co : N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);
      })"}));
  GradientOptions options;
  options.keep_results = true;
  const Program both = must(forward.gradient(options));
  const TensorType image{DataType::fp32, {count, size, size, channels}};
  const TensorType weights{DataType::fp32, {3, 3, channels, channels}};
  const InputTypes types = {{"I", image}, {"K", weights}, {"DO", image}};
  const Loaded one = load(device, forward, types), all = load(device, both, types);
  const std::vector<Timing> t = interleave({[&] { one.run(); }, [&] { all.run(); }}, 25, 3);
  const double ratio = t[1].median_s / t[0].median_s;
  const std::string name =
      fmt::format("convolution 3x3, {0}x{1}x{1}, {2} to {2}", count, size, channels);
  std::printf("%-46s %10.3f ms       forward, %.3f best\n", name.c_str(), t[0].median_s * 1e3,
              t[0].best_s * 1e3);
  std::printf("%-46s %10.3f ms       forward and backward, %.3f best\n", "", t[1].median_s * 1e3,
              t[1].best_s * 1e3);
  std::printf("%-46s %10.3f x        <= 4.5 x         %s  %.3f of the best times\n",
              "  over forward alone", ratio, ratio <= 4.5 ? "met" : "MISSED",
              t[1].best_s / t[0].best_s);
  print_memory("  forward and backward", device, all);
}

void training_step(const Device& device) {
  const std::string folder = STRIA_SOURCE_DIR "/examples/train_convnet/";
  const Program loss = must(Program::read(folder + "network.tile", "loss"));
  const Program gradient = must(loss.gradient(
      {.wrt = {"K1", "B1", "K2", "B2", "W", "B"}, .keep_results = true, .name = "loss_gradient"}));
  const std::string text = gradient.text() + must(read_file(folder + "step.tile"));
  const Program step = must(Program::from_tile({"step.tile", text}, "step"));
  auto fp32 = [](std::vector<int64_t> sizes) {
    return TensorType{DataType::fp32, std::move(sizes)};
  };
  const InputTypes types = {{"X", fp32({64, 16, 16, 1})},
                            {"Y", fp32({64, 8})},
                            {"K1", fp32({3, 3, 1, 8})},
                            {"B1", fp32({8})},
                            {"B2", fp32({16})},
                            {"K2", fp32({3, 3, 8, 16})},
                            {"W", fp32({16, 8})},
                            {"B", fp32({8})},
                            {"Rate", fp32({})}};
  const Loaded one = load(device, loss, types), all = load(device, step, types);
  const std::vector<Timing> t = interleave({[&] { one.run(); }, [&] { all.run(); }}, 101, 10);
  std::printf("%-46s %10.3f ms       loss alone\n", "train_convnet, 64 pictures of 16x16",
              t[0].median_s * 1e3);
  std::printf("%-46s %10.3f ms       whole step, %.2f x\n", "", t[1].median_s * 1e3,
              t[1].median_s / t[0].median_s);
  print_memory("  loss alone", device, one);
  print_memory("  whole step", device, all);
}

}  // namespace
}  // namespace stria::bench

int main() {
  using namespace stria;
  std::printf("%s\n", bench::machine_text().c_str());
  const Device device = bench::must(Runtime().open("llvm_cpu"));
  bench::convolution(device, 1, 56, 64);
  bench::convolution(device, 4, 56, 64);
  bench::training_step(device);
  return 0;
}
