// SPDX-License-Identifier: Apache-2.0
// Programs as plugins/opencl compiles them for GPUs, without a driver, run lane by lane: no races,
// and the interpreter's values. Every program of tests/end_to_end/programs, with the first type of
// its list and one other, each for one machine, and generated programs; STRIA_ALL_TYPES=1 takes all
// types and machines. The seed of a failure is printed; STRIA_LANES_SEED=<seed>
// STRIA_LANES_PROGRAMS=1 runs it alone.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "emit/dialect.h"
#include "program_case.h"
#include "program_run.h"
#include "settings.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::lanes {
namespace {

using Inputs = std::map<std::string, tile::TensorType>;
using Values = std::map<std::string, std::vector<Scalar>>;

const bool kAll = std::getenv("STRIA_ALL_TYPES") != nullptr;

// A GPU as the plugin sees it: what its driver says, over what hw/gpu.json says of all.
struct Machine {
  std::string name;
  HardwareModel model;
  Pipeline pipeline;
  semtree::SourceOptions options;
};

Machine make_machine(const std::string& name, const std::string& device, int64_t local_KiB,
                     int64_t threads) {
  const std::string folder = STRIA_SOURCE_DIR "/plugins/opencl/";
  std::string text = read_file(folder + "hw/gpu.json").value();
  const std::string usual = "\"threads\": 256";
  const size_t at = text.find(usual);
  STRIA_CHECK(at != std::string::npos, "hw/gpu.json has no {}", usual);
  text.replace(at, usual.size(), fmt::format("\"threads\": {}", threads));
  TemplateSettings settings;
  if (!device.empty()) settings["device"] = device;
  auto model = load_hardware_model({folder + "hw/gpu.json", text}, settings);
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  const std::string passes = folder + "passes/gpu.json";
  auto pipeline =
      parse_pipeline({passes, read_file(passes).value()}, {}, *model, passes::all_passes());
  STRIA_CHECK(pipeline.ok(), "{}", pipeline.status().to_string());
  semtree::SourceOptions options = opencl::source_options();
  options.build.enough_parallel_points = INT32_MAX;
  options.shared_bytes = local_KiB << 10;
  options.largest_group = std::max<int64_t>(threads, 256);
  return {name, std::move(model).value(), std::move(pipeline).value(), options};
}

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> out;
    out.push_back(make_machine("no driver", "", 48, 256));
    out.push_back(make_machine(
        "large",
        R"({"exec_units": {"CU": {"count": 132}}, "mem_units": {"LOCAL": {"size_KiB": 48}}})", 48,
        256));
    out.push_back(make_machine(
        "small",
        R"({"exec_units": {"CU": {"count": 4}}, "mem_units": {"LOCAL": {"size_KiB": 16}}})", 16,
        64));
    return out;
  }();
  return all;
}

// "" or what is wrong with the program on the machine.
std::string wrong_on(const Machine& machine, passes::TileProgram& program, uint64_t seed,
                     RunCounts& counts) {
  static const EvaluateIntrinsic evaluator = evaluate;
  stripe::Program device = program.generic;
  PipelineOptions how;
  how.verify_each = false;
  how.evaluate = &evaluator;
  const auto reports = run_pipeline(device, machine.pipeline, machine.model, how);
  if (!reports.ok()) return reports.status().to_string();
  return passes::wrong_values(program, [&](const std::vector<interp::TensorArg>& tensors) {
    return run_program(device, machine.options, tensors, seed, counts);
  });
}

// A run that has met no groups and no barriers has shown nothing.
void expect_groups(const RunCounts& counts) {
  std::printf("groups: %lld, of several lanes: %lld, barriers met: %lld, elements touched: %lld\n",
              static_cast<long long>(counts.groups), static_cast<long long>(counts.groups_of_lanes),
              static_cast<long long>(counts.barriers), static_cast<long long>(counts.accesses));
  EXPECT_GT(counts.groups_of_lanes, 0);
  EXPECT_GT(counts.barriers, 0);
}

class Programs : public testing::TestWithParam<size_t> {
 public:
  static void TearDownTestSuite() { expect_groups(counts()); }
  static RunCounts& counts() {
    static RunCounts all;
    return all;
  }
};

TEST_P(Programs, ComputeWithoutRaces) {
  const end_to_end::ProgramCase& c = end_to_end::all_program_cases()[GetParam()];
  const std::string path =
      fmt::format(STRIA_SOURCE_DIR "/tests/end_to_end/programs/{}.tile", c.program);
  const std::string text = read_file(path).value();
  std::vector<DataType> types = *c.types;
  if (!kAll && types.size() > 2) types = {types[0], types[1 + GetParam() % (types.size() - 1)]};
  for (size_t t = 0; t < types.size(); ++t) {
    end_to_end::Case filled(types[t], static_cast<uint32_t>(GetParam()));
    c.fill(filled);
    Inputs inputs;
    Values values;
    for (const auto& [name, grid] : filled.inputs()) {
      inputs[name] = {grid.type, grid.sizes};
      for (double value : grid.values)
        values[name].push_back(convert(Scalar::of_float(DataType::fp64, value), grid.type));
    }
    auto program = passes::make_program(text, inputs, values);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    for (size_t m = 0; m < machines().size(); ++m)
      if (kAll || m == (GetParam() + t) % machines().size()) {
        EXPECT_EQ(wrong_on(machines()[m], *program, GetParam() + 1, counts()), "")
            << c.program << " with " << name_of(types[t]) << " on the machine '"
            << machines()[m].name << "'";
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Programs,
                         testing::Range(size_t{0}, end_to_end::all_program_cases().size()),
                         [](const auto& info) {
                           return std::string(end_to_end::all_program_cases()[info.param].program);
                         });

TEST(GeneratedPrograms, ComputeWithoutRaces) {
  const differential::GeneratorOptions how = {
      .max_statements = 6, .reuse_percent = 80, .main_type_percent = 60};
  const uint64_t first = trust::number_from("STRIA_LANES_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_LANES_PROGRAMS", 150);
  RunCounts counts;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const differential::GeneratedProgram generated = differential::generate(seed, how);
    Inputs inputs;
    Values values;
    for (size_t n = 0; n < generated.inputs.size(); ++n) {
      const differential::GeneratedTensor& input = generated.inputs[n];
      inputs[input.name] = {input.type, input.sizes};
      values[input.name] = generated.input_values[n];
    }
    auto program = passes::make_program(generated.tile_text(), inputs, values);
    ASSERT_TRUE(program.ok()) << generated.tile_text() << program.status().to_string();
    passes::mark_constants(program->generic, seed);
    for (size_t m = 0; m < machines().size(); ++m)
      if (kAll || m == seed % machines().size()) {
        ASSERT_EQ(wrong_on(machines()[m], *program, seed, counts), "")
            << "seed " << seed << " on the machine '" << machines()[m].name << "'\n"
            << generated.tile_text();
      }
  }
  if (count > 20) expect_groups(counts);
}

}  // namespace
}  // namespace stria::lanes
