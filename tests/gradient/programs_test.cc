// SPDX-License-Identifier: Apache-2.0
// The gradient of every function of the tutorial, and of programs that between them use every rule
// of differentiation, against central differences; and the gradients of gradients. A program is a
// file of the tutorial or a text of written_cases.txt, with the sizes of its inputs.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "proof.h"
#include "proof_case.h"
#include "stria/base/file.h"

namespace stria::gradient_proof {
namespace {

namespace fs = std::filesystem;
const fs::path kTutorial = STRIA_SOURCE_DIR "/tests/end_to_end/tutorial";
const fs::path kWritten = STRIA_SOURCE_DIR "/tests/gradient/written_cases.txt";

std::vector<ProofCase> tutorial_cases() {
  std::vector<ProofCase> cases = {
      {"all_max", {{{7}}}},
      {"conv1d", {{{2, 7, 3}}, {{3, 3, 2}}}},
      {"conv2d_dilated", {{{1, 6, 7, 2}}, {{3, 2, 2, 3}}}},
      {"conv_relu", {{{1, 4, 5, 2}}, {{3, 3, 3, 2}}}},
      {"cumsum_constraint", {{{6}}}},
      {"cumsum_offset", {{{6}}}},
      {"elementwise", {{{3, 4}, Input::positive}, {{3, 4}}}},
      {"global_min", {{{2, 3, 2}}}},
      {"matmul", {{{4, 5}}, {{5, 3}}}},
      {"max_axis0", {{{4, 3}}}},
      {"maxpool1d", {{{7}}}},
      {"maxpool1d_odd", {{{7}}}},
      {"mean_axis0", {{{4, 3}}}},
      {"mean_global", {{{4, 3}}}},
      {"mean_global_staged", {{{4, 3}}}},
      {"min_axis0", {{{4, 3}}}},
      {"product_axis0", {{{4, 3}}}},
      {"skipping", {{{5, 3}}}},
      {"sum_axis0", {{{4, 3}}}},
      {"sum_axis0_padded", {{{4, 3}}}},
      {"sum_axis0_truncated", {{{4, 3}}}},
  };
  for (ProofCase& c : cases)
    if (c.name == "elementwise")
      c.of = {"Sum",   "Difference", "Product", "Quotient",  "Root",     "Exponential",
              "Power", "Sine",       "Tangent", "Logarithm", "Logistic", "Choice"};
  return cases;
}

Result<std::vector<ProofCase>> written_cases() {
  const Result<std::string> text = read_file(kWritten);
  if (!text.ok()) return text.status();
  return parse_proof_cases(kWritten, *text);
}

Result<Program> program_of(const ProofCase& c) {
  if (!c.text.empty()) return Program::from_tile({c.name, c.text});
  return Program::read(kTutorial / (c.name + ".tile"));
}

std::vector<Numbers> inputs_of(const ProofCase& c) {
  std::vector<Numbers> out;
  for (const Input& input : c.inputs) out.push_back(input.numbers(out.size() + 1));
  return out;
}

class Programs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<Device> device = open_device(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  void expect_right(const ProofCase& c) {
    Result<Program> program = program_of(c);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const std::string& of : c.of) {
      SCOPED_TRACE(c.name + (of.empty() ? "" : ", of " + of));
      Result<Proof> proof = prove(device_, *program, inputs_of(c), {.of = of});
      ASSERT_TRUE(proof.ok()) << proof.status().message();
      EXPECT_EQ(proof->wrong, 0) << proof->first_wrong;
      EXPECT_LE(proof->irregular_share(), c.most_irregular);
      EXPECT_GT(proof->regular, 0);
    }
  }
  Device device_;
};

TEST_P(Programs, OfTheTutorial) {
  std::set<std::string> tried;
  for (const ProofCase& c : tutorial_cases()) {
    tried.insert(c.name);
    expect_right(c);
  }
  for (const auto& file : fs::directory_iterator(kTutorial))
    EXPECT_TRUE(tried.count(file.path().stem())) << file.path() << " has no case here";
}

TEST_P(Programs, OfEveryRule) {
  const Result<std::vector<ProofCase>> cases = written_cases();
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  EXPECT_GE(cases->size(), 54u);
  for (const ProofCase& c : *cases) expect_right(c);
}

// The gradient's program is a program: its own gradient is proved the same way.
TEST_P(Programs, SecondDerivatives) {
  if (device_.info().plugin != "reference")
    GTEST_SKIP() << "programs of many kernels, long to compile";
  std::vector<ProofCase> cases = tutorial_cases();
  const Result<std::vector<ProofCase>> written = written_cases();
  ASSERT_TRUE(written.ok()) << written.status().message();
  cases.insert(cases.end(), written->begin(), written->end());
  for (const ProofCase& c : cases) {
    SCOPED_TRACE(c.name);
    if (c.of.size() > 1) continue;  // not all of its results are real numbers
    Result<Program> program = program_of(c);
    ASSERT_TRUE(program.ok()) << program.status().message();
    GradientOptions options;
    std::vector<Numbers> inputs = inputs_of(c);
    for (size_t n = 0; n < inputs.size(); ++n)
      if (inputs[n].type.type == DataType::fp64) options.wrt.push_back(program->inputs()[n].name);
    Result<Program> gradient = program->gradient(options);
    ASSERT_TRUE(gradient.ok()) << gradient.status().message();
    Result<NumericFunction> forward = [&] {
      std::vector<TensorType> types;
      for (const Numbers& input : inputs) types.push_back(input.type);
      return NumericFunction::compile(device_, *program, types);
    }();
    ASSERT_TRUE(forward.ok()) << forward.status().message();
    for (const TensorInfo& output : given_outputs(*gradient, inputs.size(), forward->outputs()))
      inputs.push_back(distinct_numbers(output.sizes, 99));
    Result<Proof> proof = prove(device_, *gradient, inputs);
    ASSERT_TRUE(proof.ok()) << proof.status().message();
    EXPECT_EQ(proof->wrong, 0) << proof->first_wrong;
    EXPECT_LE(proof->irregular_share(), c.most_irregular);
  }
}

TEST(ProofCases, SayWhichLineIsWrong) {
  auto said = [](const char* text) {
    const Result<std::vector<ProofCase>> cases = parse_proof_cases("cases.txt", text);
    return cases.ok() ? "nothing" : cases.status().message();
  };
  EXPECT_EQ(said("// about\n\na: [], [2, 3], [3] = 1 2 0\n  f\n    g\nb: [1]\n  h\n"), "nothing");
  EXPECT_EQ(said("// about\n  function\n"),
            "cases.txt:2: a line 'name: inputs' must be above a program");
  EXPECT_EQ(said("a: [1]\n f\n"),
            "cases.txt:2: ' f' is neither 'name: inputs' nor indented by two spaces");
  EXPECT_EQ(said("a: [1]\nb: [1]\n  f\n"), "cases.txt:1: the case has no program below it");
  EXPECT_EQ(said("a: [1]\n  f\n\nb: [1]\n"), "cases.txt:4: the case has no program below it");
  EXPECT_EQ(said("a: [1]\n  f\na: [2]\n  f\n"), "cases.txt:3: there are two cases 'a'");
  EXPECT_EQ(said("a: [1], 3]\n  f\n"),
            "cases.txt:1: '3]' is not '[size, …]' or '[size, …] = number …'");
  EXPECT_EQ(said("a: [1], \n  f\n"),
            "cases.txt:1: '[1], ' is not '[size, …]' or '[size, …] = number …'");
  EXPECT_EQ(said("a: [2, 2] = 1 2 3\n  f\n"),
            "cases.txt:1: the sizes [2, 2] need 4 numbers, and there are 3");
}

INSTANTIATE_TEST_SUITE_P(Devices, Programs, testing::Values("reference", "llvm_cpu", "sim"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::gradient_proof
