// SPDX-License-Identifier: Apache-2.0
// Programs on several devices at once compute what the interpreter does on the whole.
#include "stria/several/split_executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <random>

#include "case_tensors.h"
#include "stria/base/status.h"
#include "stria/runtime/check.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"
#include "stria/type/scalar.h"
#include "tile_case.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RuntimeOptions options() {
  RuntimeOptions out;
  out.device_history = false;
  out.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins",
                      STRIA_BINARY_DIR "/lib/stria/test_plugins"};
  out.only_plugin_paths = true;
  out.only_plugins = {"reference", "llvm_cpu", "opencl", "fragile"};
  out.probe_plugins = false;
  return out;
}
const Runtime& runtime() {
  static const auto& one = *new Runtime(options());
  return one;
}
// One after the other, however often each is named.
std::vector<Device> open(const std::vector<std::string>& selectors) {
  std::vector<Device> out;
  for (const std::string& one : selectors) out.push_back(runtime().open(one).value());
  return out;
}
std::vector<Device> open(const std::string& selector, size_t count) {
  return open(std::vector<std::string>(count, selector));
}
TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }
Program tile(const std::string& text) { return Program::from_tile({"test", text}).value(); }

HostTensor filled(const TensorInfo& info, uint64_t seed) {
  std::mt19937_64 random(seed);
  HostTensor out = HostTensor::create(info.type, info.sizes, info.name).value();
  for (int64_t n = 0; n < out.element_count(); ++n)
    store_scalar(info.type, out.data(), n,
                 Scalar::of_int(DataType::i32, static_cast<int64_t>(random() % 15) - 7));
  return out;
}

constexpr const char* kConvolution =
    "function conv(D[N, X, Y, CI], K[I, J, CI, CO]) -> (R) {\n"
    "  O[n, x, y, co : N, X, Y, CO] = +(D[n, x + i - 1, y + j - 1, ci] * K[i, j, ci, co]);\n"
    "  R = relu(O);\n}";
constexpr const char* kProduct =
    "function product(A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }";

// "" if the outputs are those of the interpreter on the whole program.
std::string wrong(const Compilation& generic, const std::vector<HostTensor>& inputs,
                  const std::vector<HostTensor>& outputs) {
  const auto checks = check_outputs(generic, inputs, outputs, std::nullopt);
  if (!checks.ok()) return checks.status().to_string();
  for (const OutputCheck& check : *checks)
    if (!check.report.passed()) return check.name + ": " + check.report.worst_text;
  return "";
}

// Runs twice with other values of the first input; the others are written once.
std::string run(const SplitExecutable& executable, const Compilation& generic) {
  std::vector<HostTensor> given;
  std::vector<SplitTensor> in, out;
  for (size_t n = 0; n < executable.inputs().size(); ++n) {
    given.push_back(filled(executable.inputs()[n], n));
    in.push_back(executable.create_input(n).value());
    if (n > 0)
      if (const Status status = in[n].write(given[n].bytes()); !status.ok())
        return status.to_string();
  }
  for (size_t n = 0; n < executable.outputs().size(); ++n)
    out.push_back(executable.create_output(n).value());
  for (uint64_t round = 0; round < 2; ++round) {
    given[0] = filled(executable.inputs()[0], 100 + round);
    if (const Status status = in[0].write(given[0].bytes()); !status.ok())
      return status.to_string();
    const Result<SplitRun> started = executable.run(in, out);
    if (!started.ok()) return started.status().to_string();
    if (const Status status = started->wait(); !status.ok()) return status.to_string();
    std::vector<HostTensor> results;
    for (const SplitTensor& tensor : out) results.push_back(tensor.read().value());
    if (const std::string text = wrong(generic, given, results); !text.empty()) return text;
  }
  return "";
}

struct Shape {
  const char* text;
  InputTypes types;
  const char* cut;  // the input that is cut, on so many devices at most
  size_t most;
};

TEST(SplitExecutable, ComputesWhatOneDeviceDoesOnAnyNumber) {
  const Shape shapes[] = {
      {kConvolution, {{"D", fp32({7, 5, 4, 3})}, {"K", fp32({3, 3, 3, 4})}}, "D", 5},
      {kConvolution, {{"D", fp32({2, 5, 4, 3})}, {"K", fp32({3, 3, 3, 1})}}, "D", 2},
      {kProduct, {{"A", fp32({13, 6})}, {"B", fp32({6, 5})}}, "A", 5},
      {kProduct, {{"A", fp32({4, 6})}, {"B", fp32({6, 11})}}, "B", 5}};  // rows that lie apart
  for (const char* plugin : {"reference", "llvm_cpu"})
    for (const size_t count : {1, 2, 3, 5})
      for (const Shape& shape : shapes) {
        const Program program = tile(shape.text);
        const auto executable = SplitExecutable::compile(open(plugin, count), program, shape.types);
        ASSERT_TRUE(executable.ok()) << executable.status().to_string();
        EXPECT_LE(executable->parts().size(), count);
        // A batch of 2 is cut along its images only as long as that keeps all devices busy.
        for (size_t n = 0; n < executable->inputs().size(); ++n)
          EXPECT_EQ(executable->create_input(n).value().is_cut(),
                    count > 1 && count <= shape.most && executable->inputs()[n].name == shape.cut);
        EXPECT_EQ(run(*executable, lower_program(program, shape.types).value()), "")
            << plugin << ", " << count << " devices, " << executable->description();
      }
}

TEST(SplitExecutable, OfFewerUnitsThanDevicesLeavesTheLastIdle) {
  const InputTypes types = {{"A", fp32({2, 300})}, {"B", fp32({300, 1})}};
  const auto executable =
      SplitExecutable::compile(open("reference", 5), tile(kProduct), types).value();
  EXPECT_EQ(executable.units(), 2);
  EXPECT_EQ(executable.parts().size(), 2u);
  EXPECT_EQ(executable.description(),
            "2 units of 1 along dimension 0 of 'C': 1 on reference:0, 1 on reference:0");
}

TEST(SplitExecutable, SharesAreKept) {
  const InputTypes types = {{"A", fp32({40, 6})}, {"B", fp32({6, 5})}};
  SplitOptions how;
  how.shares = {3, 1};
  const auto executable =
      SplitExecutable::compile(open({"llvm_cpu", "reference"}), tile(kProduct), types, how).value();
  EXPECT_EQ(executable.parts()[0].end, 30);
  EXPECT_EQ(executable.parts()[1].begin, 30);
  EXPECT_EQ(run(executable, lower_program(tile(kProduct), types).value()), "");
  for (const std::vector<double>& shares :
       {std::vector<double>{1}, {0, 0}, {1, -1}, {1, std::numeric_limits<double>::infinity()}}) {
    how.shares = shares;
    EXPECT_EQ(SplitExecutable::compile(open({"llvm_cpu", "reference"}), tile(kProduct), types, how)
                  .status()
                  .code(),
              StatusCode::invalid_argument);
  }
}

// Nobody knows how fast the interpreter is.
TEST(SplitExecutable, UnequalDevicesNeedAPrediction) {
  const InputTypes types = {{"A", fp32({40, 6})}, {"B", fp32({6, 5})}};
  const Status status =
      SplitExecutable::compile(open({"llvm_cpu", "reference"}), tile(kProduct), types).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("nobody can predict what 'product' takes on "
                                                "reference:"),
                                      HasSubstr("leave that device out, or give shares")));
}

TEST(SplitExecutable, DevicesOfTwoPluginsShareByWhatIsPredicted) {
  const Result<Device> other = runtime().open("opencl");
  if (!other.ok()) GTEST_SKIP() << other.status().to_string();
  const InputTypes types = {{"A", fp32({400, 64})}, {"B", fp32({64, 32})}};
  const auto executable =
      SplitExecutable::compile(std::vector{runtime().open("llvm_cpu").value(), *other},
                               tile(kProduct), types)
          .value();
  EXPECT_EQ(executable.units(), 400);
  EXPECT_EQ(run(executable, lower_program(tile(kProduct), types).value()), "");
}

TEST(SplitExecutable, ResultsOfOneAreInputsOfAnother) {
  const InputTypes types = {{"A", fp32({12, 4})}, {"B", fp32({4, 4})}};
  const std::vector<Device> devices = open("llvm_cpu", 3);
  const auto first = SplitExecutable::compile(devices, tile(kProduct), types).value();
  const SplitTensor a = first.create_input(0).value(), b = first.create_input(1).value();
  const SplitTensor c = first.create_output(0).value(), d = first.create_output(0).value();
  const HostTensor start = filled(first.inputs()[0], 1), square = filled(first.inputs()[1], 2);
  ASSERT_TRUE(a.write(start.bytes()).ok());
  ASSERT_TRUE(b.write(square.bytes()).ok());
  // Nobody waits in between.
  const SplitRun once = first.run({a, b}, {c}).value();
  const SplitRun twice = first.run({c, b}, {d}).value();
  ASSERT_TRUE(twice.wait().ok());
  ASSERT_TRUE(once.wait().ok());
  const Compilation generic = lower_program(tile(kProduct), types).value();
  std::vector<HostTensor> in, out;
  in.push_back(c.read().value());
  in.push_back(square.clone().value());
  out.push_back(d.read().value());
  EXPECT_EQ(wrong(generic, in, out), "");
}

TEST(SplitExecutable, RefusesTensorsThatAreCutOtherwise) {
  const std::vector<Device> devices = open("reference", 2);
  const InputTypes tall = {{"A", fp32({8, 8})}, {"B", fp32({8, 8})}};
  const auto one = SplitExecutable::compile(devices, tile(kProduct), tall).value();
  SplitOptions uneven;
  uneven.shares = {3, 1};
  const auto other = SplitExecutable::compile(devices, tile(kProduct), tall, uneven).value();
  const SplitTensor a = one.create_input(0).value(), b = one.create_input(1).value();
  const SplitTensor c = one.create_output(0).value();
  EXPECT_THAT(one.run({b, b}, {c}).status().message(),
              HasSubstr("'product': input 'A' is in other pieces than"));
  EXPECT_THAT(other.run({a, b}, {c}).status().message(), HasSubstr("input 'A'"));
  EXPECT_THAT(one.run({a}, {c}).status().message(), HasSubstr("'product' has 2 inputs, got 1"));
  EXPECT_THAT(one.run({a, SplitTensor()}, {c}).status().message(),
              HasSubstr("input 'B' is no tensor"));
  EXPECT_THAT(a.write("x").message(), HasSubstr("fp32[8, 8] has 256 bytes, got 1"));
  EXPECT_THAT(one.create_input(2).status().message(), HasSubstr("there is none at 2"));
  // The same pieces of other devices.
  const auto elsewhere =
      SplitExecutable::compile(open("reference", 2), tile(kProduct), tall).value();
  EXPECT_THAT(elsewhere.run({a, b}, {c}).status().message(), HasSubstr("opened at another time"));
}

TEST(SplitExecutable, SaysWhyAProgramIsNotSplit) {
  const Program total = tile("function total(A[N]) -> (S) { S[] = +(A[i]); }");
  const InputTypes types = {{"A", fp32({9})}};
  const Status status = SplitExecutable::compile(open("reference", 2), total, types).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("'total' cannot be split over devices:\n  'S' has no"));
  // One device has it all.
  const auto whole = SplitExecutable::compile(open("reference", 1), total, types).value();
  EXPECT_EQ(whole.description(), "all on reference:0");
  EXPECT_EQ(run(whole, lower_program(total, types).value()), "");
  EXPECT_EQ(SplitExecutable::compile({}, total, types).status().code(),
            StatusCode::invalid_argument);
}

// A failure has the name of its device, and the others are waited for.
TEST(SplitExecutable, NamesTheDeviceThatFails) {
  const std::string faults = testing::TempDir() + "several_faults";
  std::FILE* const file = std::fopen(faults.c_str(), "w");
  std::fputs("1 submit 0 lost\n", file);
  std::fclose(file);
  RuntimeOptions how = options();
  how.plugin_options["fragile"] = "{\"faults\": \"" + faults + "\"}";
  const Runtime fragile(how);
  const std::vector<Device> devices = {fragile.open("fragile:0").value(),
                                       fragile.open("fragile:1").value()};
  const InputTypes types = {{"A", fp32({8, 4})}, {"B", fp32({4, 4})}};
  const auto executable = SplitExecutable::compile(devices, tile(kProduct), types).value();
  const SplitTensor a = executable.create_input(0).value(), b = executable.create_input(1).value();
  const SplitTensor c = executable.create_output(0).value();
  ASSERT_TRUE(a.write(filled(executable.inputs()[0], 1).bytes()).ok());
  ASSERT_TRUE(b.write(filled(executable.inputs()[1], 1).bytes()).ok());
  const Result<SplitRun> run = executable.run({a, b}, {c});
  const Status status = run.ok() ? run->wait() : run.status();
  EXPECT_EQ(status.code(), StatusCode::device_lost);
  EXPECT_THAT(status.message(), HasSubstr("fragile:1: "));
}

// Programs that nobody wrote, on devices that generate code.
TEST(SplitExecutable, GeneratedProgramsComputeWhatTheInterpreterDoes) {
  const uint64_t programs = differential::number_from("STRIA_SPLIT_PROGRAMS", 40);
  const uint64_t first = differential::number_from("STRIA_SPLIT_SEED", 5000);
  const std::vector<Device> devices = open("llvm_cpu", 3);
  uint64_t ran = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const differential::GeneratedProgram generated = differential::generate(seed, {1, 5, 80, 80});
    const Program program = tile(generated.tile_text());
    const InputTypes types = differential::types_of(generated);
    const auto executable = SplitExecutable::compile(std::span(devices).first(2 + seed % 2),
                                                     program, types, {.most_repeated = 0.5});
    if (!executable.ok()) {
      EXPECT_EQ(executable.status().code(), StatusCode::unsupported)
          << executable.status().to_string();
      continue;
    }
    ++ran;
    std::vector<HostTensor> inputs, results;
    std::vector<SplitTensor> in, out;
    for (size_t n = 0; n < generated.inputs.size(); ++n) {
      inputs.push_back(differential::tensor_of(generated.inputs[n], &generated.input_values[n]));
      in.push_back(executable->create_input(n).value());
      ASSERT_TRUE(in[n].write(inputs[n].bytes()).ok());
    }
    for (size_t n = 0; n < executable->outputs().size(); ++n)
      out.push_back(executable->create_output(n).value());
    const Result<SplitRun> run = executable->run(in, out);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    ASSERT_TRUE(run->wait().ok()) << run->wait().to_string();
    for (const SplitTensor& tensor : out) results.push_back(tensor.read().value());
    EXPECT_EQ(wrong(lower_program(program, types).value(), inputs, results), "")
        << "STRIA_SPLIT_SEED=" << seed << " STRIA_SPLIT_PROGRAMS=1\n"
        << executable->description() << "\n"
        << differential::listing(generated);
  }
  std::printf("%lu of %lu programs ran on several devices\n", ran, programs);
  if (programs >= 40) {
    EXPECT_GT(ran, programs / 4);
  }
}

}  // namespace
}  // namespace stria
