// SPDX-License-Identifier: Apache-2.0
// Matrices that go through memory which lanes share, as SPIR-V. tests/lanes runs such kernels.
#include "emit/matrix_patches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "emit/group_check.h"
#include "emit/requirements.h"
#include "matrix_kernel.h"
#include "matrix_modules.h"

namespace stria::vulkan {
namespace {

using test::MatrixKernel;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// "", or what spirv-val finds in the module, if it is there.
std::string wrong_module(const KernelCode& kernel, const Features& features, bool any_offset) {
  const auto words = emit(kernel, features, any_offset);
  if (!words.ok()) return words.status().to_string();
  if (!knows_matrices()) return "";
  const std::string found = invalid(*words);
  return found.empty() ? "" : found + "\n" + disassemble(*words).value();
}
std::string text_at_any_offset(const MatrixKernel& kernel) {
  const auto words = emit(code_of(kernel.function()), device(), true);
  return words.ok() ? disassemble(*words).value() : words.status().to_string();
}

// Barriers of a subgroup, whose scope is 3.
size_t subgroup_barriers(const std::string& text) {
  return count(text, "OpControlBarrier %uint_3 %uint_3 ");
}

TEST(MatrixPatches, ModulesAreValid) {
  if (!knows_matrices()) {
    ASSERT_EQ(std::getenv("STRIA_TEST_NEEDS_DRIVERS"), nullptr)
        << STRIA_SPIRV_VAL << " of 2024 or later is not there: tools/drivers.sh fetches it";
    GTEST_SKIP();
  }
  for (const bool int64 : {true, false})
    for (const bool any_offset : {true, false})
      for (const FloatControls of16 :
           {FloatControls{true, true, false}, {true, false, true}, {true, true, true}})
        for (const MatrixKernel& kernel : kernels()) {
          Features features = device();
          features.int64 = int64;
          features.of16 = of16;
          EXPECT_EQ(wrong_module(code_of(kernel.function(), features), features, any_offset), "");
        }
}

TEST(MatrixPatches, AreWhereTensorsBeginAtAnyOffset) {
  EXPECT_EQ(subgroup_barriers(text_of(MatrixKernel{})), 0u);
  const std::string text = text_at_any_offset(MatrixKernel{});
  // A and bias are loaded, R is stored: each before and behind its patch. S is no tensor.
  EXPECT_EQ(subgroup_barriers(text), 6u) << text;
  EXPECT_EQ(count(text, "= OpCooperativeMatrixLoadKHR %matrix_"), 3u);
  EXPECT_THAT(text, Not(ContainsRegex("OpCooperativeMatrix(Load|Store)KHR [^\n]*Aligned")));
  EXPECT_THAT(text, AllOf(HasSubstr("Aligned 2\n"), HasSubstr("Aligned 4\n"),
                          Not(HasSubstr("Aligned 16\n"))));
}

// Two subgroups, each with 16 x 16 halves and as many sums, behind S.
TEST(MatrixPatches, AreMemoryThatTheGroupHas) {
  KernelCode kernel = code_of(MatrixKernel{}.function());
  KernelCode at_any_offset = kernel;
  at_any_offset.function = through_patches(kernel.function, device(), 32, true);
  EXPECT_EQ(shared_layout(kernel.function, device()).end, 512);
  EXPECT_EQ(shared_layout(at_any_offset.function, device()).end, 512 + 2 * (512 + 1024));
  const Limits limits{.group_lanes = 256, .shared_bytes = 16384};
  EXPECT_EQ(check_group(at_any_offset, device(), limits, 32).to_string(), "ok");

  kernel.shared_bytes = 3584;
  EXPECT_TRUE(emit(kernel, device(), true).ok());
  kernel.shared_bytes = 3583;
  EXPECT_TRUE(emit(kernel, device(), false).ok());
  const auto refused = emit(kernel, device(), true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::out_of_range);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("'product' for tensors at any offset"), HasSubstr("3584 bytes"),
                    HasSubstr("'Made-up GPU'"), HasSubstr("3583")));
}

// R is stored when S is done with.
TEST(MatrixPatches, LieOverWhatIsNotUsedAnyMore) {
  const MatrixKernel kernel{.operand = DataType::bf16, .result = DataType::bf16};
  semtree::Function function = kernel.function();
  const auto end_of = [](const semtree::Function& f) {
    return shared_layout(through_patches(f, device(), 32, false), device()).end;
  };
  EXPECT_EQ(end_of(function), 2 * 1024);
  EXPECT_EQ(count(text_of(kernel), "OpControlBarrier %uint_2 "), 3u);
  // A and bias have patches, too, one of them while S is used.
  KernelCode code = code_of(function);
  code.shared_bytes = 512 + 2 * (512 + 1024);
  const auto words = emit(code, device(), true);
  ASSERT_TRUE(words.ok()) << words.status().to_string();
  // Of the kernel as it was before there were patches in it.
  code.function = function;
  EXPECT_EQ(*emit(code, device(), true), *words);
  // Here S is used once more.
  function.body.push_back(
      {semtree::Load{MatrixKernel::kStaged, {.memory = MatrixKernel::kS, .exists = true}}});
  EXPECT_EQ(end_of(function), 512 + 2 * 1024);
}

TEST(MatrixPatches, NeedViewsOfSharedMemory) {
  Features features = device();
  features.shared_views = features.shared_views16 = features.shared_views8 = false;
  semtree::Function function = MatrixKernel{}.function();
  const auto words = emit(code_of(function, features), features, true);
  ASSERT_FALSE(words.ok());
  EXPECT_THAT(std::string(words.status().message()), HasSubstr("workgroupMemoryExplicitLayout"));
}

// ---- conversions

std::string text_on(const MatrixKernel& kernel, const Features& features) {
  return text_of(code_of(kernel.function(), features), features);
}

// Where the hardware may round in another way, there is nothing left to round.
TEST(MatrixPatches, RoundElementsBeforeTheHardwareConverts) {
  Features features = device();
  features.of16.rounds_to_even = false;
  const std::string text = text_on({.result = DataType::fp16}, features);
  EXPECT_THAT(text, HasSubstr("%rounded_0 = OpVariable"));
  EXPECT_EQ(count(text, "OpCooperativeMatrixLengthKHR"), 2u) << text;
  EXPECT_EQ(count(text, "OpFConvert %matrix_half"), 1u);
  EXPECT_EQ(count(text, "OpFConvert %half"), 0u);
  EXPECT_EQ(subgroup_barriers(text), 0u);
  const std::string sums = text_on({}, features);
  EXPECT_EQ(count(sums, "OpCooperativeMatrixLengthKHR"), 1u) << "only what is narrower is rounded";
}

TEST(MatrixPatches, ConvertWhereTheDeviceHasNoSuchMatrices) {
  Features none = device(), flushing = device();
  none.matrices.erase(none.matrices.begin() + 1);
  flushing.of16.keeps_subnormals = false;
  for (const Features& features : {none, flushing}) {
    const std::string text = text_on({.result = DataType::fp16}, features);
    EXPECT_EQ(count(text, "OpFConvert %matrix"), 0u) << text;
    EXPECT_EQ(subgroup_barriers(text), 2u);
    EXPECT_THAT(text, ContainsRegex("OpCooperativeMatrixStoreKHR [^\n]* %uint_0 %uint_4 NonPriv"));
  }
}

// A sum of bf16 is nothing that devices must have; one that does converts what has been rounded.
TEST(MatrixPatches, RoundToBf16) {
  const MatrixKernel kernel{.operand = DataType::bf16, .result = DataType::bf16};
  std::string text = text_of(kernel);
  EXPECT_EQ(count(text, "OpFConvert"), 0u);
  EXPECT_EQ(subgroup_barriers(text), 2u) << text;
  Features features = device();
  features.matrices.push_back({16, 16, 16, DataType::bf16, DataType::bf16, DataType::bf16});
  text = text_on(kernel, features);
  EXPECT_EQ(subgroup_barriers(text), 0u);
  EXPECT_EQ(count(text, "OpFConvert %matrix_bfloat16"), 1u) << text;
  EXPECT_EQ(count(text, "OpCooperativeMatrixLengthKHR"), 2u);
  EXPECT_EQ(wrong_module(code_of(kernel.function(), features), features, false), "");
  features.of32.keeps_subnormals = false;
  EXPECT_EQ(subgroup_barriers(text_on(kernel, features)), 2u);
}

TEST(MatrixPatches, ConvertIntegersToFloats) {
  const MatrixKernel kernel{
      .operand = DataType::i8, .sum = DataType::i32, .result = DataType::fp32};
  const std::string text = text_of(kernel);
  EXPECT_EQ(count(text, "OpConvertSToF %float"), 1u) << text;
  EXPECT_EQ(subgroup_barriers(text), 2u);
  EXPECT_EQ(wrong_module(code_of(kernel.function()), device(), false), "");
}

}  // namespace
}  // namespace stria::vulkan
