// SPDX-License-Identifier: Apache-2.0
// Every program of programs/ on every device that is there, against the loops of its case. A
// program is tried with the first type of its list and with one other, another one for each
// program (`opencl`: every tenth program); STRIA_ALL_TYPES=1 tries all. With STRIA_NO_PEEPHOLES=1
// the code has no peepholes (docs/emitters.md). Prints a table: programs x devices x types.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "../chosen_device.h"
#include "../lacked_types.h"
#include "../plugin_folder.h"
#include "edsl_program.h"
#include "program_case.h"
#include "stria/base/file.h"
#include "stria/base/status.h"
#include "stria/runtime/program.h"
#include "stria/runtime/runtime.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/scalar.h"

namespace stria::end_to_end {
namespace {

namespace fs = std::filesystem;
const fs::path kPrograms = STRIA_SOURCE_DIR "/tests/end_to_end/programs";

// The device of each plugin that is there (chosen_device.h).
const std::vector<Device>& devices() {
  static const std::vector<Device> open = [] {
    RuntimeOptions options;
    options.plugin_paths = {plugin_folder(STRIA_BINARY_DIR "/lib/stria/plugins")};
    options.only_plugin_paths = true;
    const Runtime runtime(options);
    std::vector<Device> out;
    for (const DeviceInfo& info : runtime.devices())
      if (!info.available)
        std::printf("%s is not available: %s\n", info.selector.c_str(), info.reason.c_str());
    for (const PluginInfo& plugin : runtime.plugins()) {
      EXPECT_TRUE(plugin.status.ok()) << plugin.id << ": " << plugin.status.message();
      Result<Device> device = runtime.open(chosen_device(plugin.id));
      if (device.ok()) out.push_back(*device);
    }
    return out;
  }();
  return open;
}

HostTensor host_tensor(const Grid& grid) {
  Result<HostTensor> tensor = HostTensor::create(grid.type, grid.sizes, "a case's tensor");
  STRIA_CHECK(tensor.ok(), "{}", tensor.status().message());
  for (size_t i = 0; i < grid.values.size(); ++i)
    store_scalar(grid.type, tensor->data(), static_cast<int64_t>(i),
                 Scalar::of_float(DataType::fp64, grid.values[i]));
  return std::move(tensor).value();
}

double unit_in_last_place(DataType type, double value) {
  const int fraction = type == DataType::fp64   ? 52
                       : type == DataType::fp32 ? 23
                       : type == DataType::fp16 ? 10
                                                : 7;
  return std::ldexp(std::max(std::fabs(value), 1e-3), -fraction);
}

// Why `got` is not `expected`, "" if it is.
std::string difference(const Grid& expected, const HostTensor& got, double ulps) {
  if (got.type() != expected.type || got.sizes() != expected.sizes)
    return fmt::format("is {}{}, not {}{}", name_of(got.type()), got.sizes(),
                       name_of(expected.type), expected.sizes);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const Scalar want =
        convert(Scalar::of_float(DataType::fp64, expected.values[i]), expected.type);
    const Scalar have = load_scalar(expected.type, got.data(), static_cast<int64_t>(i));
    bool same = is_float(expected.type)
                    ? have.f == want.f || (std::isnan(have.f) && std::isnan(want.f))
                    : have.i == want.i;
    if (is_float(expected.type) && ulps > 0)
      same = same || std::fabs(have.f - want.f) <= ulps * unit_in_last_place(expected.type, want.f);
    if (!same) return fmt::format("element {} is {}, not {}", i, to_string(have), to_string(want));
  }
  return "";
}

LackedTypes& lacked() {
  static LackedTypes types;
  return types;
}
// What run() says of a program that the device may refuse (lacked_types.h).
const std::string kRefused = "refused";

// "" if all outputs are right.
std::string run(const Device& device, const Program& program, const Case& expected) {
  InputTypes types;
  for (const auto& [name, grid] : expected.inputs()) types[name] = {grid.type, grid.sizes};
  CompileOptions how;
  how.no_peepholes = std::getenv("STRIA_NO_PEEPHOLES") != nullptr;
  Result<Executable> executable = device.compile(program, types, how);
  if (!executable.ok())
    return lacked().refused(device, executable.status()) ? kRefused
                                                         : executable.status().to_string();
  std::vector<Tensor> inputs, outputs;
  for (const ProgramInput& input : program.inputs()) {
    const Grid& grid = expected.inputs().at(input.name);
    Result<Tensor> tensor = device.create_tensor(grid.type, grid.sizes, input.name);
    if (!tensor.ok()) return tensor.status().to_string();
    if (Status status = tensor->write(host_tensor(grid).bytes()); !status.ok())
      return status.to_string();
    inputs.push_back(*tensor);
  }
  for (const TensorInfo& info : executable->outputs()) {
    Result<Tensor> tensor = device.create_tensor(info.type, info.sizes, info.name);
    if (!tensor.ok()) return tensor.status().to_string();
    outputs.push_back(*tensor);
  }
  auto launched = executable->run(inputs, outputs);
  if (!launched.ok()) return launched.status().to_string();
  if (Status status = launched->wait(); !status.ok()) return status.to_string();
  if (expected.outputs().size() != outputs.size()) return "the case does not expect every output";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = program.outputs()[i];
    auto grid = expected.outputs().find(name);
    if (grid == expected.outputs().end()) return "the case expects no output " + name;
    Result<HostTensor> result = outputs[i].read();
    if (!result.ok()) return result.status().to_string();
    std::string wrong = difference(grid->second, *result, expected.ulps);
    if (!wrong.empty()) return name + " " + wrong;
  }
  return "";
}

// Counts for the table: device -> type -> right results.
std::map<std::string, std::map<DataType, int>>& table() {
  static std::map<std::string, std::map<DataType, int>> counts;
  return counts;
}

class Programs : public testing::TestWithParam<size_t> {
 public:
  static void TearDownTestSuite() {
    std::printf("programs that are right, by device and type:\n%-14s", "");
    for (int t = 0; t < kDataTypeCount; ++t)
      std::printf("%6s", std::string(name_of(static_cast<DataType>(t))).c_str());
    std::printf("\n");
    for (const auto& [device, counts] : table()) {
      std::printf("%-14s", device.c_str());
      for (int t = 0; t < kDataTypeCount; ++t) {
        auto at = counts.find(static_cast<DataType>(t));
        std::printf("%6d", at == counts.end() ? 0 : at->second);
      }
      std::printf("\n");
    }
    lacked().expect_both();
  }
};

TEST_P(Programs, ComputeWhatTheyShould) {
  const ProgramCase& c = all_program_cases()[GetParam()];
  Result<Program> program = Program::read(kPrograms / (std::string(c.program) + ".tile"));
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<DataType> types = *c.types;
  if (std::getenv("STRIA_ALL_TYPES") == nullptr && types.size() > 2)
    types = {types[0], types[1 + GetParam() % (types.size() - 1)]};
  ASSERT_GE(devices().size(), std::getenv("STRIA_TEST_PLUGINS") ? 1U : 2U);
  for (const Device& device : devices()) {
    // Drivers that compile source take long for each program: they get a sample.
    if (device.info().plugin == "opencl" && GetParam() % 10 != 0 &&
        std::getenv("STRIA_ALL_TYPES") == nullptr)
      continue;
    for (DataType type : types) {
      Case expected(type, static_cast<uint32_t>(GetParam()));
      c.fill(expected);
      const std::string wrong = run(device, *program, expected);
      if (wrong == kRefused) continue;
      if (wrong.empty()) lacked().ran();
      EXPECT_EQ(wrong, "") << c.program << " on " << device.name() << " with " << name_of(type);
      if (wrong.empty()) ++table()[device.name().substr(0, device.name().find(':'))][type];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EndToEnd, Programs, testing::Range(size_t{0}, all_program_cases().size()),
                         [](const auto& info) {
                           return std::string(all_program_cases()[info.param].program);
                         });

const std::vector<EdslProgram>& edsl_programs() {
  static const std::vector<EdslProgram> programs = [] {
    std::vector<EdslProgram> all;
    for (auto* list : {edsl_contractions, edsl_networks, edsl_language}) {
      std::vector<EdslProgram> some = list();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return programs;
}

// The file as `stria fmt` prints it, without its comments and empty lines.
std::string bare_text(const std::string& program) {
  const fs::path path = kPrograms / (program + ".tile");
  tile::Program tile = tile::parse({path, read_file(path).value()}).value();
  for (tile::Function& function : tile.functions) {
    function.comments.clear();
    function.end_comments.clear();
    for (tile::Statement& statement : function.statements) {
      statement.comments.clear();
      statement.end_comment.clear();
      statement.blank_before = false;
    }
  }
  tile.end_comments.clear();
  return tile::print(tile);
}

TEST(ProgramsFromCpp, PrintAsTheirFiles) {
  std::set<std::string> names;
  for (const EdslProgram& p : edsl_programs()) {
    EXPECT_TRUE(names.insert(p.program).second) << p.program;
    const Result<Program> made = p.make();
    ASSERT_TRUE(made.ok()) << p.program << ": " << made.status().message();
    EXPECT_EQ(made->text(), bare_text(p.program)) << p.program;
  }
  EXPECT_GE(names.size(), 40u);
}

TEST(ProgramsFromCpp, SomeRunOnEveryDevice) {
  size_t at = 0;
  for (const EdslProgram& p : edsl_programs()) {
    if (at++ % 9 != 0) continue;
    const Result<Program> program = p.make();
    ASSERT_TRUE(program.ok()) << p.program << ": " << program.status().message();
    for (const ProgramCase& c : all_program_cases()) {
      if (std::string_view(c.program) != p.program) continue;
      Case expected(c.types->front(), 1);
      c.fill(expected);
      for (const Device& device : devices()) {
        const std::string wrong = run(device, *program, expected);
        if (wrong == kRefused) continue;
        EXPECT_EQ(wrong, "") << p.program << " on " << device.name();
      }
    }
  }
}

TEST(ProgramFolder, EveryProgramHasACase) {
  std::set<std::string> names;
  for (const ProgramCase& c : all_program_cases())
    EXPECT_TRUE(names.insert(c.program).second) << c.program;
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kPrograms)) {
    ++files;
    EXPECT_EQ(names.count(entry.path().stem()), 1u) << entry.path();
  }
  EXPECT_GE(files, 150u);
}

}  // namespace
}  // namespace stria::end_to_end
