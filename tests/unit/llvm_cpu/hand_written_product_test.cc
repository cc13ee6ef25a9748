// SPDX-License-Identifier: Apache-2.0
// Matrix products in hand-written device Stripe: blocked for two caches, both operands packed by
// copy blocks, a tile of running values in registers, rows that are left over. Small, they are
// interpreted and run in full; at the size for which they are written, run and compared by sample.
// Their inner loop is what such a processor can do at best, on whichever machine this test runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "device_programs.h"
#include "device_text.h"
#include "emit/compiled_kernels.h"
#include "stria/interp/check.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::llvm_cpu {
namespace {

using device_text::parsed;

// The template of these files with small numbers: 44 = 3 * 14 + 2 rows, two blocks, two steps of
// blocks.
stripe::Program small_product() {
  Result<stripe::Program> program = device_programs::make(
      "gemm_cpu", {{"M", 44}, {"N", 64}, {"K", 48}, {"KC", 24}, {"TILES", 2}});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return program.ok() ? *std::move(program) : stripe::Program();
}

// The same product in generic Stripe.
std::string generic_text(int64_t m, int64_t n, int64_t k) {
  const std::string a = fmt::format("A[0, 0] fp32({0}:{1}, {1}:1)", m, k),
                    b = fmt::format("B[0, 0] fp32({1}:{0}, {0}:1)", n, k),
                    c = fmt::format("C[0, 0] fp32({0}:{1}, {1}:1)", m, n);
  return fmt::format(
      "stripe 1.0\n0: #program block [] (\nnone new@0x0 {0}\nnone new@0x0 {1}\nnone new@0x0 {2}\n) "
      "{{\n"
      "0: #main block [] (\nin {0}\nin {1}\nout {2}\n) {{\n"
      "0: #kernel block [i:{3}, j:{4}, k:{5}] (\nin A[i, k] fp32(1:{5}, 1:1)\nin B[k, j] "
      "fp32(1:{4}, 1:1)\n"
      "out C[i, j]:add.fp32 fp32(1:{4}, 1:1)\n) {{\n0: $a = load(A)\n1: $b = load(B)\n2: $c = "
      "mul.fp32($a, $b)\n3: C = store($c)\n}}\n}}\n}}\n",
      a, b, c, m, n, k);
}

// Memory for the tensors of a product and what its kernels keep between them.
struct Memory {
  int64_t m, n, k;
  std::map<std::string, std::vector<float>> tensors;

  Memory(int64_t rows, int64_t columns, int64_t depth) : m(rows), n(columns), k(depth) {
    uint32_t state = 1;
    for (auto [name, count] : {std::pair("A", m * k), std::pair("B", k * n)})
      for (int64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        tensors[name].push_back(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
      }
    tensors["C"].assign(static_cast<size_t>(m * n), -1.0f);
  }
  interp::TensorArg arg(const std::string& name) {
    const bool a = name == "A", b = name == "B";
    return {name, tensors[name].data(), dense_shape(DataType::fp32, {b ? k : m, a ? k : n})};
  }
  std::vector<interp::TensorArg> args(bool with_result) {
    std::vector<interp::TensorArg> all = {arg("A"), arg("B")};
    if (with_result) all.push_back(arg("C"));
    return all;
  }
  // The points of each kernel in two pieces, the later one first.
  void run(const CompiledKernels& code) {
    for (const CompiledKernel& kernel : code.kernels()) {
      std::vector<void*> pointers;
      for (const semtree::KernelArgument& argument : kernel.arguments) {
        std::vector<float>& tensor = tensors[argument.name];
        if (tensor.empty()) tensor.resize(argument.bytes / sizeof(float));
        pointers.push_back(tensor.data());
      }
      const int64_t half = kernel.trip_count / 2;
      kernel.entry(pointers.data(), half, kernel.trip_count);
      kernel.entry(pointers.data(), 0, half);
    }
  }
};

void expect_within_bounds(Memory& memory, const interp::Reference& reference) {
  Result<interp::CheckReport> report = interp::compare(memory.arg("C"), reference);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->compared, static_cast<int64_t>(reference.size()));
  EXPECT_TRUE(report->passed()) << report->worst_text;
  EXPECT_GT(report->max_bound, 0);
}

TEST(HandWrittenProduct, SmallOneIsRightInFull) {
  const stripe::Program program = small_product();
  Memory memory(44, 64, 48);
  auto expected = interp::interpret_with_bounds(parsed("generic", generic_text(44, 64, 48)),
                                                memory.args(false));
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  Status status = interp::interpret(program, memory.args(true));
  ASSERT_TRUE(status.ok()) << status.to_string();
  expect_within_bounds(memory, (*expected)[0]);

  std::fill(memory.tensors["C"].begin(), memory.tensors["C"].end(), -1.0f);
  auto code = compile_kernels(program);
  ASSERT_TRUE(code.ok()) << code.status().to_string();
  memory.run(**code);
  expect_within_bounds(memory, (*expected)[0]);
}

class Printed : public testing::TestWithParam<const char*> {};

TEST_P(Printed, VerifiedAndRightBySample) {
  const stripe::Program program = parsed(GetParam());
  stripe::VerifyReport report;
  Status status = stripe::verify(program, {}, &report);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(report.unknown_accesses, 0);
  Memory memory(1024, 1024, 1024);
  auto expected = interp::interpret_sample(parsed("generic", generic_text(1024, 1024, 1024)),
                                           memory.args(false), 1000, 7);
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  ASSERT_EQ((*expected)[0].size(), 1000u);
  auto code = compile_kernels(program);
  ASSERT_TRUE(code.ok()) << code.status().to_string();
  memory.run(**code);
  expect_within_bounds(memory, (*expected)[0]);
  // The last rows have a tile of their own; a sample hardly meets them.
  for (int64_t i : {1019, 1020, 1021, 1022, 1023})
    for (int64_t j = 0; j < 1024; j += 11) {
      double sum = 0;
      for (int64_t k = 0; k < 1024; ++k)
        sum += static_cast<double>(memory.tensors["A"][static_cast<size_t>(1024 * i + k)]) *
               memory.tensors["B"][static_cast<size_t>(1024 * k + j)];
      ASSERT_NEAR(memory.tensors["C"][static_cast<size_t>(1024 * i + j)], sum, 1e-3)
          << i << " " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Printed, testing::Values("gemm_avx512.stripe", "gemm_avx2.stripe"));

// The longest run of lines between two labels or jumps that has multiply-adds: the body of the
// inner loop.
std::vector<std::string> inner_loop(const std::string& assembly) {
  std::vector<std::string> best, current;
  const auto fmas = [](const std::vector<std::string>& lines) {
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("vfmadd") != std::string::npos;
    });
  };
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] == '.' && line.find(':') != std::string::npos) current.clear();
    current.push_back(line);
    if (line.find("\tj") == 0 && fmas(current) > fmas(best)) best = current;
  }
  return best;
}

struct Loop {
  const char* file;
  const char* processor;
  const char* registers;
  int64_t multiply_adds, loads;
};

class InnerLoop : public testing::TestWithParam<Loop> {};

TEST_P(InnerLoop, LoadsEachOperandOnceAndSpillsNothing) {
  const Loop& wanted = GetParam();
  CompileOptions options;
  options.dump_assembly = true;
  options.assembly_for = wanted.processor;
  auto code = compile_kernels(parsed(wanted.file), options);
  ASSERT_TRUE(code.ok()) << code.status().to_string();
  std::string text;
  int64_t multiply_adds = 0, memory = 0;
  for (const std::string& line : inner_loop((*code)->kernels()[1].assembly)) {
    text += line + "\n";
    const bool multiply_add = line.find("vfmadd") != std::string::npos;
    multiply_adds += multiply_add && line.find(wanted.registers) != std::string::npos;
    memory += line.find('(') != std::string::npos && line.find("lea") == std::string::npos;
    EXPECT_EQ(line.find("Spill"), std::string::npos) << line;
    EXPECT_EQ(line.find("Reload"), std::string::npos) << line;
    EXPECT_EQ(line.find("(%rsp"), std::string::npos) << line;
  }
  EXPECT_EQ(multiply_adds, wanted.multiply_adds) << text;
  EXPECT_LE(memory, wanted.loads) << text;
}

// 14 elements of A, which an instruction may broadcast as it multiplies (twice, then), and two
// vectors of B; 6 and two.
INSTANTIATE_TEST_SUITE_P(
    Processors, InnerLoop,
    testing::Values(Loop{"gemm_avx512.stripe", "sapphirerapids", "%zmm", 28, 30},
                    Loop{"gemm_avx512.stripe", "skylake-avx512", "%zmm", 28, 30},
                    Loop{"gemm_avx2.stripe", "znver3", "%ymm", 12, 8},
                    Loop{"gemm_avx2.stripe", "haswell", "%ymm", 12, 8}));

TEST(HandWrittenProduct, AssemblyForAnUnknownProcessorIsRefused) {
  CompileOptions options;
  options.dump_assembly = true;
  options.assembly_for = "no_such_processor";
  const Status status = compile_kernels(small_product(), options).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("no processor 'no_such_processor'"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace stria::llvm_cpu
