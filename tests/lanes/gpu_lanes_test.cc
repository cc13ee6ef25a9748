// SPDX-License-Identifier: Apache-2.0
// Programs as plugins/opencl compiles them for GPUs, without a driver, run lane by lane: no races,
// and the interpreter's values. Every program of tests/end_to_end/programs with each of its types,
// on each machine; generated programs and kernels of random sizes, each on one machine, or on all
// of them (STRIA_LANES_ALL). A failure prints its seed: STRIA_LANES_SEED=<seed>
// STRIA_LANES_PROGRAMS=1 STRIA_LANES_SHAPES=1 runs it alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "gpu_machine.h"
#include "kernel_shapes.h"
#include "program_case.h"
#include "settings.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "tile_case.h"

namespace stria::lanes {
namespace {

using Inputs = std::map<std::string, tile::TensorType>;
using Values = std::map<std::string, std::vector<Scalar>>;

// One of them, or all if nothing is to be left out.
std::vector<Machine> gpus_for(uint64_t seed) {
  if (std::getenv("STRIA_LANES_ALL") != nullptr) return gpus();
  return {gpus()[seed % gpus().size()]};
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
  for (const DataType type : *c.types) {
    end_to_end::Case filled(type, static_cast<uint32_t>(GetParam()));
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
    for (const Machine& machine : gpus())
      EXPECT_EQ(wrong_on(machine, *program, GetParam() + 1, counts()), "")
          << c.program << " with " << name_of(type) << " on the machine '" << machine.name << "'";
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
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
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
    for (const Machine& machine : gpus_for(seed))
      EXPECT_EQ(wrong_on(machine, *program, seed, counts), "")
          << "seed " << seed << " on the machine '" << machine.name << "'\n"
          << generated.tile_text();
  }
  if (count > 20) expect_groups(counts);
}

// Runs kernels of random sizes, so many from the first seed on, on the machines that `choose` gives
// for a seed.
void run_shapes(
    bool products_only,
    const std::function<std::vector<Machine>(uint64_t seed, const ShapedProgram&)>& choose) {
  const uint64_t first = trust::number_from("STRIA_LANES_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_LANES_SHAPES", 150);
  RunCounts counts;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, products_only);
    auto program = passes::make_program(shaped.text, shaped.inputs);
    ASSERT_TRUE(program.ok()) << listing(shaped) << program.status().to_string();
    for (Machine machine : choose(seed, shaped)) {
      machine.may_refuse |= shaped.may_not_fit;
      EXPECT_EQ(wrong_on(machine, *program, seed, counts), "")
          << "seed " << seed << " on the machine '" << machine.name << "'\n"
          << listing(shaped);
    }
  }
  EXPECT_LE(counts.refused * 10, static_cast<int64_t>(count)) << "too many are refused";
  if (count > 20) expect_groups(counts);
}

// Kernels that GPUs run in groups, of sizes that leave parts of tiles, groups and vectors over.
TEST(Shapes, ComputeWithoutRaces) {
  run_shapes(false, [](uint64_t seed, const ShapedProgram&) { return gpus_for(seed); });
}

// Whatever its sizes, a kernel is one that the machine takes.
TEST(Sizes, AreTaken) {
  const uint64_t first = trust::number_from("STRIA_LANES_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_LANES_SHAPES", 150);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, false, 1e13);
    auto generic = passes::lower_text(shaped.text, shaped.inputs);
    ASSERT_TRUE(generic.ok()) << listing(shaped) << generic.status().to_string();
    for (const Machine& machine : gpus_for(seed)) {
      const Status status = compile(machine, *generic).status();
      if (!shaped.may_not_fit) {
        EXPECT_TRUE(status.ok()) << "seed " << seed << " on the machine '" << machine.name << "'\n"
                                 << listing(shaped) << status.to_string();
      }
    }
  }
}

// Rows that just fit into local memory leave room for the sums that lanes exchange.
TEST(LongRows, LeaveRoomForSums) {
  RunCounts counts;
  for (const Machine& machine : gpus())
    for (int rows : {1, 2, 3, 4}) {
      // Of elements of 8 bytes, so many rows at once.
      const int64_t most = machine.options.shared_bytes / 8 / rows;
      for (int64_t size = most; size > most / 2; size -= most / 16) {
        ShapedProgram shaped{kRowsWithFiveSums, {}};
        shaped.inputs["A"] = {DataType::fp64, {2, size}};
        shaped.inputs["B"] = {DataType::fp64, {size}};
        auto program = passes::make_program(shaped.text, shaped.inputs);
        ASSERT_TRUE(program.ok()) << program.status().to_string();
        EXPECT_EQ(wrong_on(machine, *program, 1, counts), "")
            << "on the machine '" << machine.name << "'\n"
            << listing(shaped);
      }
    }
  expect_groups(counts);
}

TEST(LongRows, ShareRoomOfManySums) {
  for (const Machine& machine : gpus())
    for (const DataType type : {DataType::fp32, DataType::fp64})
      for (const int sums : {13, 20}) {
        std::string text = "function (A[M, N], B[N]) -> (R) { C0 = A * 2;";
        for (int i = 0; i < sums; ++i)
          text +=
              fmt::format(" S{0}[i, 0 : M, 1] = +(C{0}[i, j]); C{1} = C{0} - S{0} / N;", i, i + 1);
        text += fmt::format(" R = C{} + B; }}", sums);
        for (const int64_t size : {64, 300, 1000}) {
          ShapedProgram shaped{text, {}};
          shaped.inputs["A"] = {type, {10000, size}};
          shaped.inputs["B"] = {type, {size}};
          auto program = passes::lower_text(shaped.text, shaped.inputs);
          ASSERT_TRUE(program.ok()) << program.status().to_string();
          const Status compiled = compile(machine, *program).status();
          EXPECT_TRUE(compiled.ok())
              << compiled.to_string() << " on the machine '" << machine.name << "'\n"
              << listing(shaped);
        }
      }
}

TEST(MadeUpGpus, ComputeWithoutRaces) {
  run_shapes(false, [](uint64_t seed, const ShapedProgram&) -> std::vector<Machine> {
    trust::Dice dice(~seed);
    return {made_up_gpu(dice)};
  });
}

// Tiles, numbers of lanes, depths of pipelines and layouts that no cost would choose.
TEST(Tiles, ComputeWithoutRaces) {
  run_shapes(true, [](uint64_t seed, const ShapedProgram& shaped) -> std::vector<Machine> {
    const auto text = [](int64_t number) { return std::to_string(number); };
    trust::Dice dice(~seed);
    std::vector<std::string> sizes;
    for (char index : shaped.tiled)
      sizes.push_back(fmt::format("\"{}\": {}", index, random_size(dice, 5)));
    const TemplateSettings settings = {
        {"TILE", fmt::format("{{{}}}", join(sizes, ", "))},
        {"THREADS", text(int64_t{4} << dice.between(0, 6))},
        {"DEPTH", text(dice.between(1, 3))},
        {"LAYOUT", dice.one_of<std::string>({"odd", "packed", "outputs"})},
        {"RUN", dice.one_of<std::string>({"0", "8", "16"})},
        {"HOLD", text(dice.between(0, 1))}};
    Machine machine = with_pipeline(
        gpus()[0], STRIA_SOURCE_DIR "/tests/unit/passes/group_pipeline.json", settings);
    machine.may_refuse = true;
    for (const auto& [name, value] : settings) machine.name += fmt::format(" {}={}", name, value);
    return {machine};
  });
}

}  // namespace
}  // namespace stria::lanes
