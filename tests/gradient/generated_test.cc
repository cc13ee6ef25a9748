// SPDX-License-Identifier: Apache-2.0
// Gradients of generated programs (tests/differential) against central differences in fp64. Every
// third program has its first statements in a function of their own. Elements of inputs at kinks
// are left out; they must stay below kMostIrregular of all. The seed of each failure is printed
// with the program and its gradient, and
//   STRIA_GRADIENT_SEED=<seed> STRIA_GRADIENT_PROGRAMS=1 gradient_generated_test
// runs it alone.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "case_tensors.h"
#include "proof.h"

namespace stria::gradient_proof {
namespace {

using differential::GeneratedProgram;

const uint64_t kPrograms = differential::number_from("STRIA_GRADIENT_PROGRAMS", 200);
const uint64_t kSeed = differential::number_from("STRIA_GRADIENT_SEED", 1);
constexpr double kMostIrregular = 0.02;

GeneratedProgram program_of(uint64_t seed) {
  differential::GeneratorOptions options;
  options.differentiable = true;
  return differential::generate(seed, options);
}

std::string text_of(const GeneratedProgram& program) {
  const size_t statements = program.statements.size();
  return program.tile_text(program.seed % 3 == 0 ? (statements + 1) / 2 : 0);
}

std::vector<Numbers> inputs_of(const GeneratedProgram& program) {
  std::vector<Numbers> out;
  for (size_t n = 0; n < program.inputs.size(); ++n) {
    out.push_back({{program.inputs[n].type, program.inputs[n].sizes}, {}});
    // A multiple of 2^-20, so that steps away from it are exact.
    for (const Scalar& value : program.input_values[n])
      out.back().values.push_back(std::nearbyint(value.to_double() * 0x1p20) * 0x1p-20);
  }
  return out;
}

std::string context(const GeneratedProgram& program) {
  std::string shapes;
  for (const auto& input : program.inputs)
    shapes += fmt::format("# {} {}\n", input.name, to_string(input.type, input.sizes));
  return fmt::format(
      "STRIA_GRADIENT_SEED={} STRIA_GRADIENT_PROGRAMS=1 gradient_generated_test\n{}{}",
      program.seed, shapes, text_of(program));
}

// Every aggregation with every combination that has a derivative, and what forms may be like.
std::vector<std::string> missing(const std::map<std::string, int>& counts) {
  std::vector<std::string> wanted = {"strided",
                                     "skipping output",
                                     "negative coefficient",
                                     "default",
                                     "broadcast",
                                     "written constraint",
                                     "fractional",
                                     "offset",
                                     "several outputs",
                                     "gather",
                                     "scatter",
                                     "several functions",
                                     "two indices in a dimension"};
  for (const char* agg : {"sum", "product", "max", "min", "assign"})
    for (const char* comb : {"none", "add", "mul", "cond"})
      wanted.push_back(fmt::format("{} of {}", agg, comb));
  std::erase_if(wanted, [&](const std::string& name) { return counts.count(name) > 0; });
  return wanted;
}

class Generated : public testing::TestWithParam<const char*> {};

TEST_P(Generated, GradientsAreThoseOfDifferences) {
  Result<Device> device = open_device(GetParam());
  ASSERT_TRUE(device.ok()) << device.status().message();
  std::map<std::string, int> counts;
  Proof all;
  int failures = 0;
  // What is compiled takes longer than what it computes.
  const uint64_t one_of = device->info().plugin == "reference" ? 1 : 5;
  for (uint64_t seed = kSeed; seed < kSeed + kPrograms && failures < 5; seed += one_of) {
    const GeneratedProgram generated = program_of(seed);
    for (const std::string& feature : generated.features) ++counts[feature];
    if (text_of(generated).find("part(") != std::string::npos) ++counts["several functions"];
    Result<Program> program = Program::from_tile({"generated", text_of(generated)});
    ASSERT_TRUE(program.ok()) << program.status().message();
    Result<Proof> proof =
        prove(*device, *program, inputs_of(generated), {.elements = 6, .seed = seed});
    if (!proof.ok() || proof->wrong > 0) {
      ++failures;
      ADD_FAILURE() << (proof.ok() ? proof->first_wrong : proof.status().to_string()) << "\n"
                    << context(generated);
    }
    if (proof.ok()) all += *proof;
  }
  std::printf("coverage of %d generated programs on %s, programs with each feature:\n",
              static_cast<int>((kPrograms + one_of - 1) / one_of), GetParam());
  for (const auto& [name, count] : counts) std::printf("  %-32s %d\n", name.c_str(), count);
  std::printf("%d elements compared, %d at kinks (%.1f%%, limit %.0f%%)\n", all.regular,
              all.irregular, 100 * all.irregular_share(), 100 * kMostIrregular);
  EXPECT_LE(all.irregular_share(), kMostIrregular);
  if (kPrograms >= 200 && one_of == 1) {
    EXPECT_EQ(missing(counts), std::vector<std::string>{});
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Generated, testing::Values("reference", "llvm_cpu", "sim"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::gradient_proof
