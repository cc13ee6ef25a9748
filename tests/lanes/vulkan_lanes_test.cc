// SPDX-License-Identifier: Apache-2.0
// Tiles of kernels for Vulkan at every size of subgroups: programs as plugins/vulkan compiles them
// without a driver, run lane by lane. Every element of a tensor is stored once by a kernel that
// does not read it (kernel_run.h counts), every output is written, no two groups and no two lanes
// meet in one, the values are the interpreter's, and every dispatch is one that the device takes.
// All programs of tests/end_to_end/programs, generated ones, and products, convolutions, rows and
// transposes of random sizes. STRIA_LANES_ALL: every size of groups and of shared memory, and every
// type. A failure prints its seed: STRIA_LANES_SEED=<seed> STRIA_LANES_SHAPES=1 runs it alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "kernel_shapes.h"
#include "program_case.h"
#include "settings.h"
#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"
#include "tile_case.h"
#include "vulkan_machine.h"

namespace stria::lanes {
namespace {

bool is_all() { return std::getenv("STRIA_LANES_ALL") != nullptr; }

// Which seeds a test looks at.
uint64_t first_seed() { return trust::number_from("STRIA_LANES_SEED", 1); }
uint64_t seed_count(uint64_t usual) { return trust::number_from("STRIA_LANES_SHAPES", usual); }

// Something was shown.
void expect_tiles(const TileCounts& counts) {
  counts.print();
  EXPECT_GT(counts.whole, 0);
  EXPECT_GT(counts.parts, 0);
  EXPECT_GT(counts.runs.stores, 0);
  expect_groups(counts.runs);
}

TEST(VulkanTiles, OfPrograms) {
  TileCounts counts;
  const auto& cases = end_to_end::all_program_cases();
  for (size_t n = 0; n < cases.size() && !HasFailure(); ++n) {
    const end_to_end::ProgramCase& c = cases[n];
    const std::string text =
        read_file(fmt::format(STRIA_SOURCE_DIR "/tests/end_to_end/programs/{}.tile", c.program))
            .value();
    size_t number = 0;
    for (const DataType type : *c.types) {
      // Tiles hang on the width of elements: each program with one type, another each time.
      if (!is_all() && number++ != n % c.types->size()) continue;
      end_to_end::Case filled(type, static_cast<uint32_t>(n));
      c.fill(filled);
      std::map<std::string, tile::TensorType> inputs;
      std::map<std::string, std::vector<Scalar>> values;
      for (const auto& [name, grid] : filled.inputs()) {
        inputs[name] = {grid.type, grid.sizes};
        for (double value : grid.values)
          values[name].push_back(convert(Scalar::of_float(DataType::fp64, value), grid.type));
      }
      auto program = passes::make_program(text, inputs, values);
      ASSERT_TRUE(program.ok()) << program.status().to_string();
      EXPECT_EQ(wrong_on_any(vulkan_machines(is_all()), *program, n + 1, false, counts), "")
          << c.program << " with " << name_of(type);
    }
  }
  expect_tiles(counts);
}

TEST(VulkanTiles, OfShapes) {
  TileCounts counts;
  const uint64_t first = first_seed(), count = seed_count(150);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, false);
    auto program = passes::make_program(shaped.text, shaped.inputs);
    ASSERT_TRUE(program.ok()) << listing(shaped) << program.status().to_string();
    EXPECT_EQ(wrong_on_any(vulkan_machines(is_all()), *program, seed, shaped.may_not_fit, counts),
              "")
        << "seed " << seed << "\n"
        << listing(shaped);
  }
  if (count > 20) expect_tiles(counts);
}

// Products by matrices that subgroups hold, with and without elementwise kernels behind them.
TEST(VulkanTiles, OfMatrices) {
  TileCounts counts;
  std::vector<VulkanMachine> machines;
  for (const int64_t subgroup : {16, 32, 64})
    machines.push_back(vulkan_machine({.subgroup = subgroup, .local_KiB = 48, .matrices = true}));
  uint64_t seed = first_seed();
  for (const DataType type : {DataType::fp16, DataType::bf16, DataType::i8, DataType::u8}) {
    const int64_t before = counts.runs.products;
    for (const char* behind : {"R = S;", "R = S + B;", "R = S + B < 0 ? 0 : S + B;"})
      for (const auto& [m, n, k] : {std::array<int64_t, 3>{64, 64, 64},
                                    {128, 64, 96},
                                    {48, 96, 80},
                                    {50, 72, 40},
                                    {33, 29, 75}}) {
        auto program = passes::make_program(
            fmt::format("function (A[M, K], W[K, N], B[N]) -> (R) {{\n"
                        "S[m, n : M, N] = +(A[m, k] * W[k, n]);\n{}\n}}",
                        behind),
            {{"A", {type, {m, k}}}, {"W", {type, {k, n}}}, {"B", {type, {n}}}});
        ASSERT_TRUE(program.ok()) << program.status().to_string();
        EXPECT_EQ(wrong_on_any(machines, *program, ++seed, false, counts), "")
            << name_of(type) << ": " << behind << " " << m << " x " << n << " x " << k;
      }
    EXPECT_GT(counts.runs.products, before) << name_of(type);
  }
  counts.print();
  EXPECT_GT(counts.with_matrices, 0);
}

// Factors that lanes compute as they stage them: of another type, and of two tensors.
TEST(VulkanTiles, OfMatricesThatAreComputed) {
  TileCounts counts;
  std::vector<VulkanMachine> machines;
  for (const int64_t subgroup : {16, 32})
    machines.push_back(vulkan_machine({.subgroup = subgroup, .local_KiB = 48, .matrices = true}));
  uint64_t seed = first_seed();
  const std::string text =
      "function (A[M, K], W[K, N]) -> (R) { R[m, n : M, N] = +(A[m, k] * W[k, n]); }";
  for (const auto& [left, right] : {std::pair{DataType::i8, DataType::fp16},
                                    {DataType::bf16, DataType::u8},
                                    {DataType::fp16, DataType::boolean}}) {
    const int64_t before = counts.runs.products;
    auto program = passes::make_program(text, {{"A", {left, {64, 96}}}, {"W", {right, {96, 48}}}});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    EXPECT_EQ(wrong_on_any(machines, *program, ++seed, false, counts), "")
        << name_of(left) << " and " << name_of(right);
    EXPECT_GT(counts.runs.products, before) << name_of(left) << " and " << name_of(right);
  }
  // The sums end inside of the tensors: lanes select zeros beyond.
  for (const int64_t most : {24, 40}) {
    const int64_t before = counts.runs.products;
    auto program = passes::make_program(
        fmt::format("function (A[M, K], W[K, N]) -> (R) {{"
                    " R[m, n : M, N] = +(A[m, k] * W[k, n]), k < {}; }}",
                    most),
        {{"A", {DataType::fp16, {256, 48}}}, {"W", {DataType::fp16, {48, 256}}}});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    EXPECT_EQ(wrong_on_any(machines, *program, ++seed, false, counts), "") << most;
    EXPECT_GT(counts.runs.products, before) << most;
  }
  // R = +(relu(A * S) * B), as Stripe: no Tile program has it as one kernel.
  const std::string file = STRIA_SOURCE_DIR "/tests/golden/passes/matrix_groups/computed.test";
  const std::string all = read_file(file).value();
  const size_t begin = all.find("stripe 1.0");
  auto stripe = stripe::parse({file, all.substr(begin, all.find("// ----") - begin)});
  ASSERT_TRUE(stripe.ok()) << stripe.status().to_string();
  auto program = passes::make_program(
      "function (A[M, K], S[K], B[K, N]) -> (C) { P = A * S; Q = P > 0 ? P : 0;\n"
      "C[m, n : M, N] = +(Q[m, k] * B[k, n]); }",
      {{"A", {DataType::fp16, {64, 64}}},
       {"S", {DataType::fp16, {64}}},
       {"B", {DataType::i8, {64, 64}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  program->generic = *stripe;
  const int64_t before = counts.runs.products;
  EXPECT_EQ(wrong_on_any(machines, *program, ++seed, false, counts), "");
  EXPECT_GT(counts.runs.products, before);
}

// Any number of lanes, and subgroups that groups are no multiple of.
TEST(VulkanTiles, OnMadeUpDevices) {
  TileCounts counts;
  const uint64_t first = first_seed(), count = seed_count(200);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, false);
    auto program = passes::make_program(shaped.text, shaped.inputs);
    ASSERT_TRUE(program.ok()) << listing(shaped) << program.status().to_string();
    trust::Dice dice(~seed);
    const std::vector<VulkanMachine> machines = {vulkan_machine(made_up_device(dice))};
    EXPECT_EQ(wrong_on_any(machines, *program, seed, shaped.may_not_fit, counts), "")
        << "seed " << seed << "\n"
        << listing(shaped);
  }
  EXPECT_LE(counts.runs.refused * 20, static_cast<int64_t>(count)) << "too many are refused";
  if (count > 20) expect_tiles(counts);
}

TEST(VulkanTiles, OfGeneratedPrograms) {
  const differential::GeneratorOptions how = {
      .max_statements = 6, .reuse_percent = 80, .main_type_percent = 60};
  TileCounts counts;
  const uint64_t first = first_seed(), count = seed_count(100);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const differential::GeneratedProgram generated = differential::generate(seed, how);
    std::map<std::string, tile::TensorType> inputs;
    std::map<std::string, std::vector<Scalar>> values;
    for (size_t n = 0; n < generated.inputs.size(); ++n) {
      const differential::GeneratedTensor& input = generated.inputs[n];
      inputs[input.name] = {input.type, input.sizes};
      values[input.name] = generated.input_values[n];
    }
    auto program = passes::make_program(generated.tile_text(), inputs, values);
    ASSERT_TRUE(program.ok()) << generated.tile_text() << program.status().to_string();
    EXPECT_EQ(wrong_on_any(vulkan_machines(is_all()), *program, seed, false, counts), "")
        << "seed " << seed << "\n"
        << generated.tile_text();
  }
  if (count > 20) expect_tiles(counts);
}

// Kernels of sizes that nobody can run here are dispatched within the limits, too.
TEST(VulkanTiles, OfLargeSizes) {
  TileCounts counts;
  const uint64_t first = first_seed(), count = seed_count(200);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, false, 1e13);
    auto generic = passes::lower_text(shaped.text, shaped.inputs);
    ASSERT_TRUE(generic.ok()) << listing(shaped) << generic.status().to_string();
    trust::Dice dice(~seed);
    std::vector<VulkanMachine> machines = {dice.one_of(vulkan_machines(is_all()))};
    VulkanNumbers made_up = made_up_device(dice);
    made_up.groups = VulkanNumbers().groups;
    machines.push_back(vulkan_machine(made_up));
    for (const VulkanMachine& on : machines)
      EXPECT_EQ(wrong_kernels(on, *generic, shaped.may_not_fit, counts), "")
          << "seed " << seed << " on the machine '" << on.machine.name << "'\n"
          << listing(shaped);
  }
  EXPECT_LE(counts.runs.refused * 20, static_cast<int64_t>(count)) << "too many are refused";
  counts.print();
}

}  // namespace
}  // namespace stria::lanes
