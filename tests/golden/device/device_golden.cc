// SPDX-License-Identifier: Apache-2.0
// Each device program: the file is what the template makes, it passes the verifier without a doubt,
// the interpreter gives at cut sizes what plain loops give, and the code generators' text at the
// printed size is the file beside it. STRIA_UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "cuda/emit/dialect.h"
#include "cuda/emit/roles_source.h"
#include "device_programs.h"
#include "opencl/emit/dialect.h"
#include "stria/base/file.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::device_programs {
namespace {

void expect_file(const std::string& file, const std::string& text) {
  const char* update = std::getenv("STRIA_UPDATE_GOLDEN");
  if (update && std::string_view(update) == "1") {
    ASSERT_TRUE(write_file(path_of(file), text).ok());
    return;
  }
  Result<std::string> there = read_file(path_of(file));
  ASSERT_TRUE(there.ok()) << there.status().to_string();
  EXPECT_EQ(*there, text) << file << ": tools/golden_update.sh device rewrites it";
}

void expect_verified(const stripe::Program& program) {
  stripe::VerifyReport report;
  const Status status = stripe::verify(program, {}, &report);
  EXPECT_TRUE(status.ok()) << status.to_string();
  for (const std::string& warning : report.warnings) ADD_FAILURE() << warning;
}

// A file of this folder, and the template and sizes that make it.
struct File {
  const char* name;
  const char* of;
  Sizes sizes;
  bool for_gpus;
};
void PrintTo(const File& file, std::ostream* out) { *out << file.name; }

const std::vector<File> kFiles = {
    {"conv_gpu", "conv_gpu", {}, true},
    {"gemm_tensor_core", "gemm_tensor_core", {}, true},
    {"gemm_hopper", "gemm_hopper", {}, false},
    {"gemm_cooperative", "gemm_cooperative", {}, false},
    {"conv_semaphores", "conv_semaphores", {}, false},
    {"gemm_avx512", "gemm_cpu", {}, false},
    {"gemm_avx2", "gemm_cpu", {{"ROWS", 6}, {"LANES", 8}, {"PANELS_FIRST", 1}}, false}};

class Programs : public testing::TestWithParam<File> {};

TEST_P(Programs, AreTheirFilesAndVerified) {
  Result<stripe::Program> program = make(GetParam().of, GetParam().sizes);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  expect_verified(*program);
  expect_file(std::string(GetParam().name) + ".stripe", stripe::print(*program));
}

TEST_P(Programs, AreTheirSources) {
  if (!GetParam().for_gpus) return;
  Result<stripe::Program> program = make(GetParam().of, GetParam().sizes);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const opencl::Features features = {.fp64 = false, .fma = true, .mma = true};
  Result<semtree::ProgramSource> source =
      semtree::print_program(*program, opencl::dialect(features), opencl::source_options());
  ASSERT_TRUE(source.ok()) << source.status().to_string();
  expect_file(std::string(GetParam().name) + ".cl", source->text);
  source = semtree::print_program(*program, cuda::dialect(), cuda::source_options());
  ASSERT_TRUE(source.ok()) << source.status().to_string();
  // Behind what stands at the top of every source.
  const std::string_view preamble = cuda::preamble();
  ASSERT_EQ(source->text.substr(0, preamble.size()), preamble);
  expect_file(std::string(GetParam().name) + ".cu", source->text.substr(preamble.size()));
}

// How it is launched stands beside it: tests/golden/device/run_hopper.py does that.
TEST(GemmHopper, IsItsSource) {
  Result<stripe::Program> program = make("gemm_hopper");
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  Result<cuda::RolesSource> source = cuda::print_roles(*program);
  ASSERT_TRUE(source.ok()) << source.status().to_string();
  expect_file("gemm_hopper.cu", source->text);
  nlohmann::ordered_json launch = {{"name", source->name},
                                   {"grid", source->grid},
                                   {"threads", source->threads},
                                   {"shared_bytes", source->shared_bytes},
                                   {"maps", nlohmann::ordered_json::array()},
                                   {"pointers", source->pointers}};
  for (const cuda::TensorMap& map : source->maps)
    launch["maps"].push_back({{"tensor", map.tensor},
                              {"sizes", map.sizes},
                              {"row_bytes", map.row_bytes},
                              {"box", map.box}});
  expect_file("gemm_hopper.json", launch.dump(1) + "\n");
}

// What the prototype has no instruction for is refused by name.
TEST(GemmHopper, OtherProgramsAreRefused) {
  Result<stripe::Program> program = make("conv_semaphores");
  ASSERT_TRUE(program.ok());
  const Status refused = cuda::print_roles(*program).status();
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_NE(refused.message().find("is in SRAM: a kernel allocates in SHARED"), std::string::npos)
      << refused.message();
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(kFiles),
                         [](const auto& info) { return std::string(info.param.name); });

// Numbers of the form n / 8, exact in every float type, small enough that sums of thousands stay
// exact in fp32.
std::vector<float> numbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& x : out) x = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8;
  return out;
}

// The program's tensors as fp32 numbers; runs it and returns the output.
std::vector<float> interpreted(const stripe::Program& program,
                               std::map<std::string, std::vector<float>> given) {
  std::map<std::string, std::vector<uint64_t>> memory;
  std::vector<interp::TensorArg> tensors;
  std::string output;
  for (const stripe::Refinement& ref : program.entry.refs) {
    std::vector<uint64_t>& words = memory[ref.into];
    words.resize(static_cast<size_t>(ref.shape.span_elements()));
    const auto values = given.find(ref.into);
    if (values == given.end()) output = ref.into;
    for (int64_t i = 0; values != given.end() && i < ref.shape.span_elements(); ++i)
      store_scalar(ref.shape.type, words.data(), i,
                   Scalar::of_float(ref.shape.type, values->second[static_cast<size_t>(i)]));
    tensors.push_back({ref.into, words.data(), ref.shape});
  }
  const Status status = interp::interpret(program, tensors);
  EXPECT_TRUE(status.ok()) << status.to_string();
  const stripe::Refinement& ref = *program.entry.find_ref(output);
  std::vector<float> out;
  for (int64_t i = 0; i < ref.shape.span_elements(); ++i)
    out.push_back(
        static_cast<float>(load_scalar(ref.shape.type, memory[output].data(), i).to_double()));
  return out;
}

TEST(ConvGpu, InterpretedIsPlainLoops) {
  const int64_t n = 16, x = 6, y = 8, ci = 16, co = 32;
  Result<stripe::Program> program =
      make("conv_gpu", {{"N", n}, {"X", x}, {"Y", y}, {"CI", ci}, {"CO", co}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  expect_verified(*program);
  const std::vector<float> d = numbers(n * x * y * ci, 1), k = numbers(9 * co * ci, 2);
  const std::vector<float> r = interpreted(*program, {{"D", d}, {"K", k}});
  ASSERT_EQ(r.size(), static_cast<size_t>(n * x * y * co));
  for (int64_t a = 0; a < n * x * y * co; ++a) {
    const int64_t c = a % co, v = a / co % y, u = a / co / y % x, b = a / co / y / x;
    float sum = 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        if (u + i < 1 || u + i > x || v + j < 1 || v + j > y) continue;
        for (int64_t e = 0; e < ci; ++e)
          sum += d[static_cast<size_t>(((b * x + u + i - 1) * y + v + j - 1) * ci + e)] *
                 k[static_cast<size_t>(((i * 3 + j) * co + c) * ci + e)];
      }
    ASSERT_EQ(r[static_cast<size_t>(a)], sum > 0 ? sum : 0)
        << b << " " << u << " " << v << " " << c;
  }
}

// C[m, n] = sum over k of A[m, k] * B[n, k].
void expect_product(const char* name, int64_t m, int64_t n, int64_t k, Sizes sizes) {
  sizes.insert({{"M", m}, {"N", n}, {"K", k}});
  Result<stripe::Program> program = make(name, sizes);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  expect_verified(*program);
  const std::vector<float> a = numbers(m * k, 1), b = numbers(n * k, 2);
  const std::vector<float> c = interpreted(*program, {{"A", a}, {"B", b}});
  ASSERT_EQ(c.size(), static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t e = 0; e < k; ++e)
        sum += a[static_cast<size_t>(i * k + e)] * b[static_cast<size_t>(j * k + e)];
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)],
                round_to(program->entry.find_ref("C")->shape.type, sum))
          << i << " " << j;
    }
}

TEST(GemmTensorCore, InterpretedIsPlainLoops) {
  expect_product("gemm_tensor_core", 128, 256, 96, {});
}

TEST(ConvSemaphores, InterpretedIsPlainLoops) {
  const int64_t h = 12, w = 5, ci = 3, co = 4;
  Result<stripe::Program> program =
      make("conv_semaphores", {{"H", h}, {"W", w}, {"CI", ci}, {"CO", co}, {"TILE_H", 2}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  expect_verified(*program);
  const std::vector<float> d = numbers((h + 2) * (w + 2) * ci, 1), k = numbers(9 * ci * co, 2);
  const std::vector<float> o = interpreted(*program, {{"D", d}, {"K", k}});
  ASSERT_EQ(o.size(), static_cast<size_t>(h * w * co));
  for (int64_t a = 0; a < h * w * co; ++a) {
    const int64_t c = a % co, x = a / co % w, y = a / co / w;
    float sum = 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t e = 0; e < ci; ++e)
          sum += d[static_cast<size_t>(((y + i) * (w + 2) + x + j) * ci + e)] *
                 k[static_cast<size_t>(((i * 3 + j) * ci + e) * co + c)];
    ASSERT_EQ(o[static_cast<size_t>(a)], sum > 0 ? sum : 0) << y << " " << x << " " << c;
  }
}

TEST(GemmCooperative, InterpretedIsPlainLoops) {
  expect_product("gemm_cooperative", 128, 256, 96, {});
}

TEST(GemmHopper, InterpretedIsPlainLoops) {
  expect_product("gemm_hopper", 256, 16, 256, {{"TILE_N", 16}, {"STAGES", 2}});
}

}  // namespace
}  // namespace stria::device_programs
