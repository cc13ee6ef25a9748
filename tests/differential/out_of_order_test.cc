// SPDX-License-Identifier: Apache-2.0
// Generated programs of several kernels on a device that runs whatever may run in random order,
// late, on several queues, and many runs at once: every output must be, byte for byte, what the
// interpreter gets from the same device Stripe in program order. A wait too few in the plan, or
// memory reused too early, shows here.
//   STRIA_OUT_OF_ORDER_SEED=<seed> STRIA_OUT_OF_ORDER_PROGRAMS=1 out_of_order_test
// runs the programs from that seed on.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "case_tensors.h"
#include "stria/interp/interpret.h"
#include "stria/runtime/inside.h"
#include "tile_case.h"

namespace stria::differential {
namespace {

const uint64_t kPrograms = number_from("STRIA_OUT_OF_ORDER_PROGRAMS", 200);
const uint64_t kSeed = number_from("STRIA_OUT_OF_ORDER_SEED", 1);
// More statements than the default, most of one type, so that results are used again and again.
constexpr GeneratorOptions kChains = {4, 12, 90, 80};
constexpr size_t kProgramsAtOnce = 6;
constexpr size_t kRunsOfEach = 3;

template <typename T>
T must(Result<T> result) {
  STRIA_CHECK(result.ok(), "{}", result.status().to_string());
  return std::move(result).value();
}

// One program with runs under way: the second overlaps the first, the third overwrites the first's
// outputs.
struct Started {
  GeneratedProgram program;
  Executable executable;
  std::vector<HostTensor> inputs;
  std::vector<Tensor> outputs[2];
  std::vector<Event> runs;
};

Started start(const Device& device, uint64_t seed) {
  Started out;
  out.program = generate(seed, kChains);
  const GeneratedProgram& generated = out.program;
  out.executable = must(device.compile(
      must(Program::from_tile({"generated", generated.tile_text()})), types_of(generated)));
  std::vector<Tensor> inputs;
  for (size_t n = 0; n < generated.inputs.size(); ++n) {
    const GeneratedTensor& like = generated.inputs[n];
    out.inputs.push_back(tensor_of(like, &generated.input_values[n]));
    inputs.push_back(must(device.create_tensor(like.type, like.sizes, like.name)));
    Status written = inputs.back().write(out.inputs.back().bytes());
    STRIA_CHECK(written.ok(), "{}", written.to_string());
  }
  for (auto& outputs : out.outputs)
    for (const std::string& name : generated.outputs) {
      const GeneratedTensor& like = tensor_named(generated, name);
      outputs.push_back(must(device.create_tensor(like.type, like.sizes, name)));
    }
  for (size_t run = 0; run < kRunsOfEach; ++run)
    out.runs.push_back(must(out.executable.run(inputs, out.outputs[run % 2])));
  return out;
}

// What is wrong with the results, or "". Adds the outputs that it compares.
std::string check(const Started& started, uint64_t& compared) {
  for (const Event& run : started.runs)
    if (Status status = run.wait(); !status.ok()) return status.to_string();
  std::vector<HostTensor> tensors;
  std::vector<interp::TensorArg> args;
  auto add = [&](const GeneratedTensor& like, const std::vector<Scalar>* values) {
    tensors.push_back(tensor_of(like, values));
    args.push_back({like.name, tensors.back().data(), dense_shape(like.type, like.sizes)});
  };
  const GeneratedProgram& program = started.program;
  for (size_t n = 0; n < program.inputs.size(); ++n)
    add(program.inputs[n], &program.input_values[n]);
  for (const std::string& name : program.outputs) add(tensor_named(program, name), nullptr);
  Status status = interp::interpret(Inside::compilation(started.executable).device, args);
  if (!status.ok()) return status.to_string();
  for (const auto& outputs : started.outputs)
    for (size_t n = 0; n < outputs.size(); ++n) {
      auto result = outputs[n].read();
      if (!result.ok()) return result.status().to_string();
      ++compared;
      if (result->bytes() != tensors[program.inputs.size() + n].bytes())
        return fmt::format("output '{}' differs", program.outputs[n]);
    }
  return "";
}

class OutOfOrder : public testing::TestWithParam<const char*> {};

TEST_P(OutOfOrder, EveryRunComputesTheSame) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {"slow_device"};
  options.plugin_options = {{"slow_device", GetParam()}};
  options.log = [](LogLevel, std::string_view line) {
    std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  };
  Runtime runtime(options);
  const Device device = must(runtime.open("slow_device"));
  int failures = 0;
  uint64_t kernels = 0, temporaries = 0, compared = 0;
  std::deque<Started> window;
  for (uint64_t n = 0; (n < kPrograms || !window.empty()) && failures < 5; ++n) {
    if (n < kPrograms) {
      window.push_back(start(device, kSeed + n));
      const stripe::Block& main = *Inside::compilation(window.back().executable).device.main();
      kernels += main.stmts.size();
      for (const stripe::Refinement& ref : main.refs)
        temporaries += ref.dir == stripe::RefDir::none;
      if (window.size() < kProgramsAtOnce) continue;
    }
    const std::string wrong = check(window.front(), compared);
    if (!wrong.empty()) {
      ++failures;
      ADD_FAILURE() << wrong << "\nSTRIA_OUT_OF_ORDER_SEED=" << window.front().program.seed
                    << " STRIA_OUT_OF_ORDER_PROGRAMS=1 out_of_order_test\n"
                    << listing(window.front().program);
    }
    window.pop_front();
  }
  std::printf("%lu programs, %lu kernels, %lu temporaries, %lu runs, %lu outputs compared\n",
              kPrograms, kernels, temporaries, kPrograms * kRunsOfEach, compared);
  EXPECT_GT(compared, 0u);
  // Where kernels stand alone none can come too early; one program may be such.
  if (kPrograms >= 20) {
    EXPECT_GT(kernels, kPrograms);
    EXPECT_GT(temporaries, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, OutOfOrder,
    testing::Values(R"({"seed": 20261121, "queues": 3, "delay_us": 100})",
                    R"({"seed": 1, "queues": 1, "delay_us": 0})"),  // in order, as long as it may
    [](const auto& info) { return info.index == 0 ? "ThreeQueues" : "OneQueue"; });

}  // namespace
}  // namespace stria::differential
