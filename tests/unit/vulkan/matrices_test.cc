// SPDX-License-Identifier: Apache-2.0
// Matrices that subgroups hold, as SPIR-V. No driver of the tests has them: spirv-val takes the
// modules, and tests/lanes runs such kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "emit/group_check.h"
#include "emit/matrix_check.h"
#include "emit/spirv.h"
#include "matrix_kernel.h"
#include "matrix_modules.h"
#include "measure/matrix_rate_kernel.h"
#include "stria/semtree/tree/print.h"

namespace stria::vulkan {
namespace {

using semtree::Function;
using test::MatrixKernel;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Matrices, ModulesAreValid) {
  if (!knows_matrices()) {
    ASSERT_EQ(std::getenv("STRIA_TEST_NEEDS_DRIVERS"), nullptr)
        << STRIA_SPIRV_VAL << " of 2024 or later is not there: tools/drivers.sh fetches it";
    GTEST_SKIP();
  }
  for (const bool int64 : {true, false})
    for (const MatrixKernel& kernel : kernels()) {
      Features features = device();
      features.int64 = int64;
      const auto words = emit(code_of(kernel.function(), features), features);
      ASSERT_TRUE(words.ok()) << words.status().to_string();
      EXPECT_EQ(invalid(*words), "") << disassemble(*words).value();
    }
  // It sees what is wrong.
  auto words = emit(code_of(MatrixKernel{}.function()), device());
  for (size_t at = 5; at < words->size(); at += (*words)[at] >> 16)
    if (((*words)[at] & 0xffff) == static_cast<uint32_t>(khr::OpCooperativeMatrixMulAddKHR))
      std::swap((*words)[at + 3], (*words)[at + 4]);
  EXPECT_THAT(invalid(*words), HasSubstr("OpCooperativeMatrixMulAddKHR"));
}

// What measures a device multiplies as often as it is written to, and takes its sums to memory.
TEST(Matrices, TheKernelOfEachRateIsEmitted) {
  const Features features = device();
  int64_t with_32_bits = 0;
  for (const MatrixForm& form : features.matrices) {
    if (byte_size(form.sum) != 4) continue;
    ++with_32_bits;
    const MatrixRateKernel kernel = matrix_rate_kernel(form, 132, 32, features, Limits{});
    const auto words = emit(kernel.code, features);
    ASSERT_TRUE(words.ok()) << words.status().to_string();
    const std::string text = disassemble(*words).value();
    EXPECT_EQ(count(text, " OpCooperativeMatrixMulAddKHR "), kProductsWritten);
    EXPECT_EQ(count(text, " OpCooperativeMatrixLoadKHR "), 2 + kMatrixSums);
    EXPECT_EQ(count(text, "OpCooperativeMatrixStoreKHR "), kMatrixSums);
    EXPECT_EQ(check_group(kernel.code, features, Limits{}, 32).to_string(), "ok");
    if (knows_matrices()) {
      EXPECT_EQ(invalid(*words), "") << text;
    }
  }
  EXPECT_EQ(with_32_bits, 4);
}

TEST(Matrices, OfHalves) {
  const std::string text = text_of(MatrixKernel{});
  EXPECT_THAT(text, HasSubstr("OpCapability CooperativeMatrixKHR\n"));
  EXPECT_THAT(text, HasSubstr("OpExtension \"SPV_KHR_cooperative_matrix\"\n"));
  const auto type = [](const char* component, int use) {
    const std::string of = fmt::format("{}_uint_16_uint_16_uint_{}", component, use);
    return fmt::format(
        "%matrix_{} = OpTypeCooperativeMatrixKHR %{} %uint_3 %uint_16 %uint_16 %uint_{}\n", of,
        component, use);
  };
  EXPECT_THAT(text, AllOf(HasSubstr(type("half", 0)), HasSubstr(type("half", 1)),
                          HasSubstr(type("float", 2))));
  // A row of A has 64 bytes: 4 vectors of 16. One of S has 2. Rows of bias are all the same.
  const std::string load = "= OpCooperativeMatrixLoadKHR %matrix_";
  EXPECT_EQ(count(text, load), 3u) << text;
  EXPECT_THAT(text, testing::ContainsRegex("Load.*half_.*_0 %[0-9]+ %uint_0 %uint_4 Aligned 16\n"));
  EXPECT_THAT(text, testing::ContainsRegex("Load.*half_.*_1 %[0-9]+ %uint_0 %uint_2 NonPriv"));
  EXPECT_THAT(text, testing::ContainsRegex("Load.*float_.*_2 %[0-9]+ %uint_0 %uint_0 Aligned 16"));
  // No integer has a sign.
  EXPECT_THAT(text,
              testing::ContainsRegex("OpCooperativeMatrixMulAddKHR %[a-z_0-9]+ %[0-9]+ %[0-9]+ "
                                     "%[0-9]+\n"));
  EXPECT_THAT(text, testing::ContainsRegex("OpCooperativeMatrixStoreKHR %[0-9]+ %[0-9]+ %uint_0 "
                                           "%uint_4 Aligned 16\n"));
  EXPECT_EQ(count(text, "OpCooperativeMatrixLengthKHR"), 1u);
}

TEST(Matrices, OfColumns) {
  const std::string text = text_of(MatrixKernel{.columns = true});
  EXPECT_THAT(text, testing::ContainsRegex("Load.*half_.*_1 %[0-9]+ %uint_1 %uint_2 NonPriv"));
  EXPECT_THAT(text, testing::ContainsRegex("StoreKHR %[0-9]+ %[0-9]+ %uint_1 %uint_8 Aligned"));
}

TEST(Matrices, OfBf16) {
  const std::string text = text_of(MatrixKernel{.operand = DataType::bf16});
  EXPECT_THAT(text, AllOf(HasSubstr("OpCapability BFloat16TypeKHR\n"),
                          HasSubstr("OpCapability BFloat16CooperativeMatrixKHR\n"),
                          HasSubstr("OpExtension \"SPV_KHR_bfloat16\"\n"),
                          HasSubstr("%bfloat16 = OpTypeFloat 16 0\n"),
                          Not(HasSubstr("OpCapability Float16\n"))));
  // Memory has integers of 16 bits, in vectors of 16 bytes.
  EXPECT_THAT(text,
              testing::ContainsRegex("Load.*bfloat16_.*_0 %[0-9]+ %uint_0 %uint_4 Aligned 16\n"));
  EXPECT_THAT(text, testing::ContainsRegex("Load.*bfloat16_.*_1 %[0-9]+ %uint_0 %uint_2 NonPriv"));
  EXPECT_EQ(count(text, "%bfloat16 "), 3u) << "its type and the two matrices'";
}

TEST(Matrices, AreConvertedWhole) {
  EXPECT_EQ(count(text_of(MatrixKernel{}), "OpFConvert"), 0u);
  const std::string text = text_of(MatrixKernel{.result = DataType::fp16});
  EXPECT_THAT(text, testing::ContainsRegex("%[0-9]+ = OpFConvert %matrix_half_uint_16_uint_16_"));
  EXPECT_EQ(count(text, "OpFConvert"), 1u);
}

TEST(Matrices, OfIntegersWithAndWithoutSign) {
  const std::string with =
      text_of(MatrixKernel{.operand = DataType::i8, .sum = DataType::i32, .result = DataType::i32});
  EXPECT_THAT(with, testing::ContainsRegex("MulAddKHR %[a-z_0-9]+ %[0-9]+ %[0-9]+ %[0-9]+ 15\n"));
  EXPECT_THAT(with, HasSubstr("OpTypeCooperativeMatrixKHR %int8 "));
  // Elements lose their sign where they are computed with, and get it back.
  EXPECT_EQ(count(with, "OpBitcast %uint "), 2u) << with;
  EXPECT_EQ(count(with, "OpBitcast %int "), 1u) << with;
  const std::string without =
      text_of(MatrixKernel{.operand = DataType::u8, .sum = DataType::u32, .result = DataType::u32});
  EXPECT_THAT(without, testing::ContainsRegex("MulAddKHR %[a-z_0-9]+ %[0-9]+ %[0-9]+ %[0-9]+\n"));
  EXPECT_THAT(without, HasSubstr("OpTypeCooperativeMatrixKHR %uint8 "));
  Function mixed =
      MatrixKernel{.operand = DataType::i8, .sum = DataType::i32, .result = DataType::i32}
          .function();
  mixed.params[MatrixKernel::kA].type = mixed.array(MatrixKernel::kLeft).type = DataType::u8;
  Features features = device();
  features.matrices.push_back({16, 16, 16, DataType::u8, DataType::i8, DataType::i32});
  EXPECT_THAT(text_of(code_of(mixed), features),
              testing::ContainsRegex("MulAddKHR %[a-z_0-9]+ %[0-9]+ %[0-9]+ %[0-9]+ 14\n"));
}

// ---- what is refused

struct Refusal {
  const char* what;
  std::function<void(Function&)> change_kernel;
  std::function<void(Features&)> change_device;
  std::vector<std::string> parts;  // of the message
};

semtree::MatrixPlace& place_of(Function& f, int memory) {
  semtree::MatrixPlace* out = nullptr;
  semtree::walk(f.body, [&](semtree::Statement& statement) {
    if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op);
        load && load->from.place.memory == memory)
      out = &load->from;
    if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op);
        store && store->to.place.memory == memory)
      out = &store->to;
  });
  return *out;
}

TEST(Matrices, NamesWhatTheDeviceLacks) {
  const auto same = [](Function&) {};
  const auto whole = [](Features&) {};
  const std::vector<Refusal> refusals = {
      {"no matrices",
       same,
       [](Features& f) { f.matrices.clear(); },
       {"'left'", "16 x 16 of fp16 (left)", "VK_KHR_cooperative_matrix"}},
      {"other sums",
       same,
       [](Features& f) {
         std::erase_if(f.matrices, [](const MatrixForm& m) { return m.sum == DataType::fp32; });
       },
       {"'sum'", "16 x 16 of fp32 (sum)"}},
      {"other products",
       same,
       [](Features& f) {
         // Each of the matrices, but not together.
         f.matrices[0].k = 8;
         f.matrices.push_back({16, 8, 16, DataType::fp16, DataType::fp16, DataType::fp32});
       },
       {"16 x 16 x 16 of fp16 and fp16 in fp32"}},
      {"bf16",
       [](Function& f) { f.array(MatrixKernel::kLeft).type = DataType::bf16; },
       [](Features& f) { f.matrices.erase(f.matrices.begin() + 2); },
       {"'left'", "16 x 16 of bf16 (left)"}},
      {"no fp16", same, [](Features& f) { f.fp16 = false; }, {"'left'", "shaderFloat16"}},
      {"shared arrays of words",
       same,
       [](Features& f) { f.shared_views16 = false; },
       {"'S'", "workgroupMemoryExplicitLayout16BitAccess"}},
      {"shared arrays apart",
       same,
       [](Features& f) { f.shared_views = false; },
       {"'S'", "workgroupMemoryExplicitLayout"}},
      {"a long way",
       [](Function& f) { place_of(f, MatrixKernel::kR).row_stride = int64_t{1} << 32; },
       whole,
       {"'R'", "steps of 4294967296 elements"}},
      {"elements of two types",
       [](Function& f) {
         f.array(MatrixKernel::kAdded).type = DataType::i32;
         f.params[MatrixKernel::kBias].type = DataType::i32;
       },
       whole,
       {"'sum' (fp32) and 'added' (i32)"}},
      {"elements of halves",
       [](Function& f) { f.array(MatrixKernel::kSum).type = DataType::fp16; },
       whole,
       {"'sum'", "fp16"}},
  };
  EXPECT_TRUE(emit(code_of(MatrixKernel{}.function()), device()).ok());
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.what);
    Function function = MatrixKernel{}.function();
    Features features = device();
    refusal.change_kernel(function);
    refusal.change_device(features);
    const auto words = emit(code_of(function, features), features);
    ASSERT_FALSE(words.ok());
    EXPECT_EQ(words.status().code(), StatusCode::unsupported);
    const std::string message(words.status().message());
    EXPECT_THAT(message, HasSubstr("kernel 'product'"));
    for (const std::string& part : refusal.parts) EXPECT_THAT(message, HasSubstr(part));
  }
}

// Matrices that do not lie as Vulkan demands go by patches.
TEST(Matrices, GoStraightWhereVulkanAllowsIt) {
  const auto whole = [](Features&) {};
  const std::vector<Refusal> refusals = {
      {"place",
       [](Function& f) { place_of(f, MatrixKernel::kA).place.multiple = 4; },
       whole,
       {"'A'", "multiple of 8 bytes", "multiples of 16"}},
      {"constant",
       [](Function& f) { place_of(f, MatrixKernel::kS).place.constant = 2; },
       whole,
       {"'S'", "multiple of 4 bytes"}},
      {"stride",
       [](Function& f) { place_of(f, MatrixKernel::kR).row_stride = 18; },
       whole,
       {"'R'", "rows are 72 bytes apart"}},
      {"a part",
       [](Function& f) { place_of(f, MatrixKernel::kR).rows = semtree::integer(DataType::i32, 9); },
       whole,
       {"'R'", "not there as a whole"}},
  };
  EXPECT_TRUE(check_matrices(MatrixKernel{}.function(), device()).ok());
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.what);
    Function function = MatrixKernel{}.function();
    refusal.change_kernel(function);
    const Status status = check_matrices(function, device());
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    for (const std::string& part : refusal.parts)
      EXPECT_THAT(std::string(status.message()), HasSubstr(part));
    EXPECT_TRUE(emit(code_of(function), device()).ok());
  }
}

// Patches do so; a tree without them says what it cannot.
TEST(Matrices, BecomeNoOtherKindOfNumbers) {
  KernelCode code = code_of(MatrixKernel{}.function());
  code.function.params[MatrixKernel::kR].type = DataType::i32;
  const auto words = emit(code, device());
  ASSERT_FALSE(words.ok());
  EXPECT_THAT(std::string(words.status().message()),
              AllOf(HasSubstr("'R'"), HasSubstr("of i32"), HasSubstr("from fp32")));
}

// A line shorter than 16 bytes asks for less.
TEST(Matrices, LinesSayWhatIsAligned) {
  const semtree::Array::Fragment form{semtree::Array::Fragment::Use::left, 16, 8};
  const auto of = [&](int64_t row, int64_t column, DataType type) {
    return lines_of({{}, row, column}, form, type).aligned_bytes;
  };
  EXPECT_EQ(of(32, 1, DataType::fp16), 16);
  EXPECT_EQ(of(32, 1, DataType::i8), 8);
  EXPECT_EQ(of(1, 32, DataType::i8), 16);
  EXPECT_EQ(of(32, 1, DataType::fp64), 16);
}

TEST(Matrices, WholeSubgroupsComeToThem) {
  const Limits limits{.group_lanes = 256, .shared_bytes = 16384};
  const auto check = [&](const Function& function, int64_t subgroup) {
    return std::string(check_group(code_of(function), device(), limits, subgroup).message());
  };
  const Function right = MatrixKernel{}.function();
  EXPECT_EQ(check(right, 32), "");
  EXPECT_EQ(check(right, 16), "");
  EXPECT_THAT(check(right, 0),
              AllOf(HasSubstr("'sum[0] = fill(0.0)'"), HasSubstr("'Made-up GPU'")));
  EXPECT_THAT(check(right, 48), HasSubstr("no whole subgroups of 48"));
  // Subgroups of 64 would load two places at once.
  EXPECT_THAT(check(right, 64), HasSubstr("'left[0] = matrix A["));
  for (size_t i = 1; i < right.body.size(); ++i) {
    Function part = right;
    const semtree::ExprRef lane = semtree::variable(MatrixKernel::kLane, {DataType::i32, 1});
    const semtree::ExprRef limit = semtree::integer(DataType::i32, 40);
    part.body[i] = {
        semtree::If{semtree::binary(semtree::Op::lt, lane, limit), {right.body[i]}, {}}};
    EXPECT_THAT(check(part, 32), HasSubstr("a part of the 32 lanes"))
        << semtree::print(part.body[i], part);
  }
}

TEST(Matrices, LanesOfSubgroupsThatHoldThem) {
  EXPECT_EQ(matrix_lanes(device(), 32), 32);
  EXPECT_EQ(matrix_lanes(device(), 0), 0);
  Features none = device();
  none.matrices.clear();
  EXPECT_EQ(matrix_lanes(none, 32), 0);
}

}  // namespace
}  // namespace stria::vulkan
