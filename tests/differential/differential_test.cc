// SPDX-License-Identifier: Apache-2.0
// Generated legal Tile programs: the interpreter against brute-force enumeration of valid indices,
// and every device against both. The seed of each failure is printed with the program, and
//   STRIA_DIFFERENTIAL_SEED=<seed> STRIA_DIFFERENTIAL_PROGRAMS=1 differential_test
// runs it alone.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../chosen_device.h"
#include "../lacked_types.h"
#include "../plugin_folder.h"
#include "case_tensors.h"
#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/runtime/check.h"
#include "stria/runtime/inside.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "tile_case.h"

namespace stria::differential {
namespace {

const uint64_t kPrograms = number_from("STRIA_DIFFERENTIAL_PROGRAMS", 300);
const GeneratorOptions kOptions = {.packed_percent = 25};
const uint64_t kSeed = number_from("STRIA_DIFFERENTIAL_SEED", 1);

// The first wrong element of an output, or "".
std::string first_mismatch(const GeneratedTensor& tensor, const std::vector<BruteValue>& expected,
                           const void* data) {
  for (size_t n = 0; n < expected.size(); ++n)
    if (auto why = mismatch(tensor.type, expected[n],
                            load_scalar(tensor.outside_type(), data, static_cast<int64_t>(n))))
      return fmt::format("{} element {}: {}", tensor.name, n, *why);
  return "";
}

std::string context(const GeneratedProgram& program) {
  return fmt::format(
      "STRIA_DIFFERENTIAL_SEED={} STRIA_DIFFERENTIAL_PROGRAMS=1 differential_test\n{}",
      program.seed, listing(program));
}

class Coverage {
 public:
  void add(const GeneratedProgram& program) {
    for (const std::string& feature : program.features) ++counts_[feature];
  }
  void print(const char* title) const {
    std::printf("coverage of %s, programs with each feature:\n", title);
    for (const auto& [name, count] : counts_) std::printf("  %-32s %d\n", name.c_str(), count);
  }
  // Every aggregation with every combination and type, every rank.
  std::vector<std::string> missing() const {
    std::vector<std::string> out;
    auto want = [&](std::string name) {
      if (!counts_.count(name)) out.push_back(std::move(name));
    };
    for (const char* agg : {"sum", "product", "max", "min", "assign"}) {
      for (const char* comb : {"none", "add", "mul", "eq", "cond"})
        want(fmt::format("{} of {}", agg, comb));
      for (int t = 0; t < kDataTypeCount; ++t)
        want(fmt::format("{} {}", agg, name_of(static_cast<DataType>(t))));
    }
    for (int rank = 0; rank <= 5; ++rank) want(fmt::format("rank {}", rank));
    for (const char* feature :
         {"strided", "skipping output", "negative coefficient", "written constraint", "default",
          "broadcast", "several outputs", "fractional", "two indices in a dimension", "offset"})
      want(feature);
    for (int t = kDataTypeCount; t < kAllDataTypeCount; ++t)
      for (const char* end : {"input", "output"})
        want(fmt::format("{} {}", end, name_of(static_cast<DataType>(t))));
    for (const char* function : {"gather", "scatter", "index", "prng_value", "prng_state"})
      want(function);
    return out;
  }

 private:
  std::map<std::string, int> counts_;
};

std::string run_interpreter(const GeneratedProgram& program) {
  auto parsed = tile::parse({"generated", program.tile_text()});
  if (!parsed.ok()) return parsed.status().to_string();
  auto bound = tile::bind_program(*parsed, "", types_of(program));
  if (!bound.ok()) return bound.status().to_string();
  auto generic = lower(*bound);
  if (!generic.ok()) return generic.status().to_string();
  std::vector<HostTensor> tensors;
  std::vector<interp::TensorArg> args;
  auto add = [&](const GeneratedTensor& like, const std::vector<Scalar>* values) {
    tensors.push_back(tensor_of(like, values));
    args.push_back(
        {like.name, tensors.back().data(), memory_shape(like.outside_type(), like.sizes)});
  };
  for (size_t n = 0; n < program.inputs.size(); ++n)
    add(program.inputs[n], &program.input_values[n]);
  for (const std::string& output : program.outputs) add(tensor_named(program, output), nullptr);
  Status status = interp::interpret(*generic, args);
  if (!status.ok()) return status.to_string();
  auto expected = brute_force(program);
  for (size_t n = 0; n < program.outputs.size(); ++n) {
    std::string wrong =
        first_mismatch(tensor_named(program, program.outputs[n]), expected[program.outputs[n]],
                       tensors[program.inputs.size() + n].data());
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// "" also if the device may refuse the program, as `lacked` counts.
std::string run_device(const Device& device, const GeneratedProgram& generated,
                       LackedTypes& lacked) {
  auto program = Program::from_tile({"generated", generated.tile_text()});
  if (!program.ok()) return program.status().to_string();
  // Some inputs are constants, so that some programs have a prologue.
  CompileOptions options;
  for (size_t n = generated.inputs.size() % 2; n < generated.inputs.size(); n += 2)
    options.constants.insert(generated.inputs[n].name);
  auto executable = device.compile(*program, types_of(generated), options);
  if (!executable.ok())
    return lacked.refused(device, executable.status()) ? "" : executable.status().to_string();
  std::vector<HostTensor> hosts, results;
  std::vector<Tensor> inputs, outputs;
  for (size_t n = 0; n < generated.inputs.size(); ++n) {
    const GeneratedTensor& input = generated.inputs[n];
    hosts.push_back(tensor_of(input, &generated.input_values[n]));
    auto tensor = device.create_tensor(input.outside_type(), input.sizes, input.name);
    if (!tensor.ok()) return tensor.status().to_string();
    Status status = tensor->write(hosts.back().bytes());
    if (!status.ok()) return status.to_string();
    inputs.push_back(*tensor);
  }
  for (const std::string& output : generated.outputs) {
    const GeneratedTensor& like = tensor_named(generated, output);
    auto tensor = device.create_tensor(like.outside_type(), like.sizes, output);
    if (!tensor.ok()) return tensor.status().to_string();
    outputs.push_back(*tensor);
  }
  auto run = executable->run(inputs, outputs);
  if (!run.ok()) return run.status().to_string();
  Status status = run->wait();
  if (!status.ok()) return status.to_string();
  auto expected = brute_force(generated);
  for (size_t n = 0; n < outputs.size(); ++n) {
    auto result = outputs[n].read();
    if (!result.ok()) return result.status().to_string();
    std::string wrong = first_mismatch(tensor_named(generated, generated.outputs[n]),
                                       expected[generated.outputs[n]], result->data());
    if (!wrong.empty()) return "against brute force: " + wrong;
    results.push_back(std::move(*result));
  }
  auto checks = check_outputs(Inside::compilation(*executable), hosts, results, std::nullopt);
  if (!checks.ok()) return checks.status().to_string();
  for (const OutputCheck& check : *checks)
    if (!check.report.passed()) return "against the interpreter: " + check.report.worst_text;
  lacked.ran();
  return "";
}

TEST(Differential, InterpreterAgainstBruteForce) {
  Coverage coverage;
  int failures = 0;
  for (uint64_t n = 0; n < kPrograms && failures < 5; ++n) {
    GeneratedProgram program = generate(kSeed + n, kOptions);
    coverage.add(program);
    std::string wrong = run_interpreter(program);
    if (!wrong.empty()) {
      ++failures;
      ADD_FAILURE() << wrong << "\n" << context(program);
    }
  }
  coverage.print(fmt::format("{} generated programs", kPrograms).c_str());
  if (kPrograms >= 300) {
    EXPECT_EQ(coverage.missing(), std::vector<std::string>{});
  }
}

// Of every so many programs one is run on the plugin's device: the driver behind opencl takes a
// second to compile what runs in a millisecond. The full sweep runs all.
uint64_t one_of(std::string_view plugin) {
  return plugin == "opencl" ? number_from("STRIA_DIFFERENTIAL_OPENCL_ONE_OF", 10) : 1;
}

class OnDevice : public testing::TestWithParam<std::string> {};

TEST_P(OnDevice, AgainstBruteForceAndInterpreter) {
  RuntimeOptions options;
  options.plugin_paths = {plugin_folder(STRIA_BINARY_DIR "/lib/stria/plugins")};
  options.only_plugin_paths = true;
  Runtime runtime(options);
  auto device = runtime.open(chosen_device(GetParam()));
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  LackedTypes lacked;
  int failures = 0;
  for (uint64_t n = 0; n < kPrograms && failures < 5; n += one_of(GetParam())) {
    GeneratedProgram program = generate(kSeed + n, kOptions);
    std::string wrong = run_device(*device, program, lacked);
    if (!wrong.empty()) {
      ++failures;
      ADD_FAILURE() << wrong << "\n" << context(program);
    }
  }
  lacked.expect_both();
}

INSTANTIATE_TEST_SUITE_P(Plugins, OnDevice, testing::ValuesIn(tested_plugins({STRIA_PLUGINS})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stria::differential
