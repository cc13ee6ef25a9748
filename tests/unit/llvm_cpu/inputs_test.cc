// SPDX-License-Identifier: Apache-2.0
// What llvm_cpu's code makes of inputs that are rare: buffers that begin anywhere, sizes of zero,
// denormal numbers, NaN, and sizes that no memory holds. Expected values come from plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "stria/exec/loaded_program.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria::llvm_cpu {
namespace {

using testing::HasSubstr;
using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Runtime runtime() {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {"llvm_cpu"};
  return Runtime(options);
}

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

Values normal(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  Values out(count);
  for (float& value : out) value = distribution(random);
  return out;
}

class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    auto device = runtime().open("llvm_cpu");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  // The first output.
  Result<Values> run(const std::string& text, const InputTypes& types,
                     const std::map<std::string, Values>& inputs) {
    STRIA_ASSIGN(const Program program, Program::from_tile({"test.tile", text}));
    STRIA_ASSIGN(const Executable executable, device_.compile(program, types));
    std::vector<Tensor> in, out;
    for (const TensorInfo& info : executable.inputs()) {
      STRIA_ASSIGN(Tensor tensor, device_.create_tensor(info));
      STRIA_RETURN_IF_ERROR(tensor.write_values(inputs.at(info.name)));
      in.push_back(std::move(tensor));
    }
    for (const TensorInfo& info : executable.outputs()) {
      STRIA_ASSIGN(Tensor tensor, device_.create_tensor(info));
      out.push_back(std::move(tensor));
    }
    STRIA_ASSIGN(const Event done, executable.run(in, out));
    STRIA_RETURN_IF_ERROR(done.wait());
    return out[0].read_values<float>();
  }
  Values values(const std::string& text, const InputTypes& types,
                const std::map<std::string, Values>& inputs) {
    auto result = run(text, types, inputs);
    EXPECT_TRUE(result.ok()) << text << "\n" << result.status().to_string();
    return result.ok() ? *result : Values();
  }
  Device device_;
};

constexpr const char* kProduct =
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }";
constexpr const char* kConvolution =
    "function (A[H, W, C], B[I, J, C, K]) -> (O) { O[y, x, k : H, W, K] = "
    "+(A[y + i - 1, x + j - 1, c] * B[i, j, c, k]); }";

Values product(const Values& a, const Values& b, size_t m, size_t n, size_t k) {
  Values out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
      out[i * n + j] = static_cast<float>(sum);
    }
  return out;
}

void expect_scratch(const Values& got, const Values& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-4) << "element " << i;
}

// ---- buffers that begin anywhere

// Runs `text` with every tensor at the same offset into memory, and gives the output and what lies
// beside it.
struct Placed {
  Values output;
  bool outside_kept = true;
};
Placed run_at(const Device& device, const std::string& text, const InputTypes& types,
              const std::vector<Values>& inputs, uint64_t offset) {
  Placed out;
  const auto program = Program::from_tile({"test.tile", text});
  auto lowered = lower_program(*program, types);
  auto made = CompileDriver::specialize(device, *std::move(lowered));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  auto loaded = CompileDriver::build(device, made->device, made->device_text);
  EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
  const exec::Plan& plan = loaded->plan();
  constexpr uint64_t kMargin = 256;
  const auto place = [&](uint64_t bytes, const void* data) {
    hal::Buffer buffer = *Inside::hal_device(device).allocate(bytes + offset + kMargin);
    hal::Mapping mapping = *buffer.map_discard();
    EXPECT_TRUE(mapping.ready().wait().ok());
    std::memset(mapping.data(), 0x55, bytes + offset + kMargin);
    if (data) std::memcpy(mapping.data() + offset, data, bytes);
    EXPECT_TRUE(mapping.unmap()->wait().ok());
    return hal::Argument{buffer, offset};
  };
  std::vector<hal::Argument> in, results;
  for (size_t n = 0; n < plan.inputs.size(); ++n) {
    const exec::PlannedTensor& tensor = plan.tensors[plan.inputs[n]];
    in.push_back(place(tensor.bytes, inputs.at(tensor.name == "A" ? 0 : 1).data()));
  }
  const uint64_t bytes = plan.tensors[plan.outputs[0]].bytes;
  results.push_back(place(bytes, nullptr));
  const auto binding = loaded->bind(in);
  EXPECT_TRUE(binding.ok()) << binding.status().to_string();
  const auto run = binding->run(in, results);
  EXPECT_TRUE(run.ok() && run->wait().ok());
  hal::Mapping mapping = *results[0].buffer.map_current();
  EXPECT_TRUE(mapping.ready().wait().ok());
  out.output.resize(bytes / 4);
  std::memcpy(out.output.data(), mapping.data() + offset, bytes);
  for (uint64_t at = 0; at < bytes + offset + kMargin; ++at)
    if (at < offset || at >= offset + bytes)
      out.outside_kept &= mapping.data()[at] == std::byte{0x55};
  return out;
}

TEST_F(Inputs, BuffersBeginAtAnyElement) {
  const Values a = normal(37 * 50, 1), b = normal(50 * 70, 2);
  const Values wanted = product(a, b, 37, 70, 50);
  const Values image = normal(9 * 11 * 16, 3), weights = normal(3 * 3 * 16 * 40, 4);
  const Values at_line =
      run_at(device_, kConvolution, {{"A", fp32({9, 11, 16})}, {"B", fp32({3, 3, 16, 40})}},
             {image, weights}, 0)
          .output;
  for (uint64_t offset : {4, 8, 12, 20, 36, 60, 68}) {
    const Placed got =
        run_at(device_, kProduct, {{"A", fp32({37, 50})}, {"B", fp32({50, 70})}}, {a, b}, offset);
    expect_scratch(got.output, wanted);
    EXPECT_TRUE(got.outside_kept) << offset;
    const Placed convolved =
        run_at(device_, kConvolution, {{"A", fp32({9, 11, 16})}, {"B", fp32({3, 3, 16, 40})}},
               {image, weights}, offset);
    EXPECT_EQ(convolved.output, at_line) << offset;
    EXPECT_TRUE(convolved.outside_kept) << offset;
    const Placed chain =
        run_at(device_, "function (A[N], B[N]) -> (C) { S = A + B; C = max(S, 0.0); }",
               {{"A", fp32({1003})}, {"B", fp32({1003})}}, {a, b}, offset);
    Values sums(1003);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = std::max(a[i] + b[i], 0.0f);
    EXPECT_EQ(chain.output, sums) << offset;
    EXPECT_TRUE(chain.outside_kept) << offset;
  }
}

// ---- sizes of zero

TEST_F(Inputs, SizesMayBeZero) {
  const auto gemm = [&](int64_t m, int64_t n, int64_t k) {
    return values(kProduct, {{"A", fp32({m, k})}, {"B", fp32({k, n})}},
                  {{"A", Values(static_cast<size_t>(m * k), 1)},
                   {"B", Values(static_cast<size_t>(k * n), 1)}});
  };
  EXPECT_EQ(gemm(0, 5, 7), Values());
  EXPECT_EQ(gemm(5, 0, 7), Values());
  EXPECT_EQ(gemm(0, 0, 0), Values());
  EXPECT_EQ(gemm(3, 40, 0), Values(120, 0));  // nothing is written: zeros
  for (const char* aggregation : {"+", "*", ">", "<"})
    EXPECT_EQ(
        values(fmt::format("function (A[M, N]) -> (R) {{ R[i : M] = {}(A[i, j]); }}", aggregation),
               {{"A", fp32({20, 0})}}, {{"A", {}}}),
        Values(20, 0))
        << aggregation;
  EXPECT_EQ(
      values("function (A[M, N]) -> (R) { R[] = +(A[i, j]); }", {{"A", fp32({0, 9})}}, {{"A", {}}}),
      Values(1, 0));
  EXPECT_EQ(values("function (A[M, N], B[N]) -> (R) { S = A + B; R = max(S, 0.0); }",
                   {{"A", fp32({0, 16})}, {"B", fp32({16})}}, {{"A", {}}, {"B", Values(16, 1)}}),
            Values());
  EXPECT_EQ(values("function (A[M, N]) -> (R) { X[i, 0 : M, 1] = >(A[i, j]); E = exp(A - X); "
                   "S[i, 0 : M, 1] = +(E[i, j]); R = E / S; }",
                   {{"A", fp32({0, 33})}}, {{"A", {}}}),
            Values());
  EXPECT_EQ(values(kConvolution, {{"A", fp32({6, 7, 0})}, {"B", fp32({3, 3, 0, 8})}},
                   {{"A", {}}, {"B", {}}}),
            Values(6 * 7 * 8, 0));
  EXPECT_EQ(values(kConvolution, {{"A", fp32({0, 7, 4})}, {"B", fp32({3, 3, 4, 8})}},
                   {{"A", {}}, {"B", Values(3 * 3 * 4 * 8, 1)}}),
            Values());
}

// ---- denormal numbers

// What an application may have set in its own threads must not reach the workers.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#endif
};

TEST_F(Inputs, DenormalNumbersStayWhatTheyAre) {
  constexpr size_t kCount = 4099;
  const float least = std::numeric_limits<float>::denorm_min(),
              normal_least = std::numeric_limits<float>::min();
  Values a(kCount), b(kCount), sums(kCount), halves(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i) * least;
    b[i] = normal_least / 4;
    sums[i] = a[i] + b[i];
    halves[i] = b[i] * 0.5f;
  }
  ASSERT_NE(halves[0], 0);
  const InputTypes types = {{"A", fp32({kCount})}, {"B", fp32({kCount})}};
  const std::string add = "function (A[N], B[N]) -> (R) { R = A + B; }",
                    half = "function (A[N], B[N]) -> (R) { R = B * 0.5 + A * 0.0; }",
                    most = "function (A[N], B[N]) -> (R) { R[] = >(A[i]); }",
                    all = "function (A[N], B[N]) -> (R) { R[] = +(B[i]); }";
  const std::map<std::string, Values> inputs = {{"A", a}, {"B", b}};
  const auto all_are_right = [&] {
    EXPECT_EQ(values(add, types, inputs), sums);
    EXPECT_EQ(values(half, types, inputs), halves);
    EXPECT_EQ(values(most, types, inputs), Values{a.back()});
    // A power of two each: the sum of them is exact in any order.
    const Values few(64, least);
    EXPECT_EQ(values(all, {{"A", fp32({64})}, {"B", fp32({64})}}, {{"A", few}, {"B", few}}),
              Values{64 * least});
    const Values product_of_few =
        values(kProduct, {{"A", fp32({5, 8})}, {"B", fp32({8, 33})}},
               {{"A", Values(40, normal_least)}, {"B", Values(8 * 33, 0.125f)}});
    EXPECT_EQ(product_of_few, Values(5 * 33, normal_least));
  };
  all_are_right();
  {
    // A runtime that is made, and used first, by a thread that flushes to zero.
    const FlushToZero flush;
    SetUp();
    // It may run kernels itself when it waits for them. Its own comparisons would not see the
    // difference: bytes are compared.
    for (int i = 0; i < 20; ++i) {
      auto result = run(add, types, inputs);
      ASSERT_TRUE(result.ok());
      EXPECT_EQ(std::memcmp(result->data(), sums.data(), 4 * kCount), 0);
    }
  }
  all_are_right();
}

// ---- NaN

TEST_F(Inputs, NanComesThroughWhereItBelongsAndNowhereElse) {
  const auto is_nan = [](const Values& values) {
    std::vector<size_t> out;
    for (size_t i = 0; i < values.size(); ++i)
      if (std::isnan(values[i])) out.push_back(i);
    return out;
  };
  // A product: a row of it for a row of A, a column for one of B.
  Values a = normal(20 * 30, 1), b = normal(30 * 50, 2);
  a[3 * 30 + 17] = kNan;
  std::vector<size_t> row;
  for (size_t j = 0; j < 50; ++j) row.push_back(3 * 50 + j);
  const InputTypes types = {{"A", fp32({20, 30})}, {"B", fp32({30, 50})}};
  EXPECT_EQ(is_nan(values(kProduct, types, {{"A", a}, {"B", b}})), row);
  // A convolution: the windows that have it. The padding is no product with zero.
  Values image = normal(9 * 10 * 4, 3);
  image[(0 * 10 + 0) * 4 + 1] = kNan;
  Values weights = normal(3 * 3 * 4 * 24, 4);
  std::vector<size_t> windows;
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 2; ++x)
      for (size_t k = 0; k < 24; ++k) windows.push_back((y * 10 + x) * 24 + k);
  const InputTypes image_types = {{"A", fp32({9, 10, 4})}, {"B", fp32({3, 3, 4, 24})}};
  EXPECT_EQ(is_nan(values(kConvolution, image_types, {{"A", image}, {"B", weights}})), windows);
  // A weight that only windows beyond the corner would use, were there any.
  image = normal(9 * 10 * 4, 3);
  for (size_t x = 0; x < 3 * 4 * 24; ++x) weights[x] = kNan;  // the row above
  std::vector<size_t> below;
  for (size_t n = 10 * 24; n < 9 * 10 * 24; ++n) below.push_back(n);
  EXPECT_EQ(is_nan(values(kConvolution, image_types, {{"A", image}, {"B", weights}})), below);
  // max, min, ReLU, sums and softmax.
  Values c = normal(10 * 40, 5);
  c[4 * 40 + 39] = kNan;
  const InputTypes one = {{"A", fp32({10, 40})}};
  for (const char* aggregation : {"+", "*", ">", "<"})
    EXPECT_EQ(is_nan(values(fmt::format("function (A[M, N]) -> (R) {{ R[i : M] = {}(A[i, j]); }}",
                                        aggregation),
                            one, {{"A", c}})),
              std::vector<size_t>{4})
        << aggregation;
  for (const char* text :
       {"max(A, 0.0)", "min(A, 0.0)", "max(0.0, A)", "A * 0.0", "exp(A)", "tanh(A)"})
    EXPECT_EQ(is_nan(values(fmt::format("function (A[M, N]) -> (R) {{ R = {}; }}", text), one,
                            {{"A", c}})),
              std::vector<size_t>{4 * 40 + 39})
        << text;
  std::vector<size_t> softmax_row;
  for (size_t j = 0; j < 40; ++j) softmax_row.push_back(4 * 40 + j);
  EXPECT_EQ(
      is_nan(values("function (A[M, N]) -> (R) { X[i, 0 : M, 1] = >(A[i, j]); E = exp(A - X); "
                    "S[i, 0 : M, 1] = +(E[i, j]); R = E / S; }",
                    one, {{"A", c}})),
      softmax_row);
}

// ---- more than there is

TEST_F(Inputs, OutOfMemoryNamesTheSize) {
  const auto tensor = device_.create_tensor(DataType::fp32, {1 << 20, 1 << 22}, "'A'");
  ASSERT_EQ(tensor.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(tensor.status().message(), HasSubstr("no memory for 17592186044416 bytes for 'A'"));
  // Of a program's own: what it must hold between two kernels.
  const std::string text =
      "function (A[M], B[N]) -> (R, S) { T[i, j : M, N] = +(A[i] * B[j]); R[i : M] = +(T[i, j]); "
      "S[j : N] = >(T[i, j]); }";
  const int64_t size = 1 << 21;
  auto program = Program::from_tile({"test.tile", text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto executable = device_.compile(*program, {{"A", fp32({size})}, {"B", fp32({size})}});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  std::vector<Tensor> in, out;
  for (const TensorInfo& info : executable->inputs()) in.push_back(*device_.create_tensor(info));
  for (const TensorInfo& info : executable->outputs()) out.push_back(*device_.create_tensor(info));
  for (const Tensor& input : in)
    ASSERT_TRUE(input.write_values(Values(static_cast<size_t>(size), 1)).ok());
  const auto run = executable->run(in, out);
  ASSERT_EQ(run.status().code(), StatusCode::out_of_memory) << run.status().to_string();
  EXPECT_THAT(run.status().message(), HasSubstr("17592186044416 bytes"));
  EXPECT_THAT(run.status().message(), HasSubstr("temporaries of"));
}

}  // namespace
}  // namespace stria::llvm_cpu
