// SPDX-License-Identifier: Apache-2.0
// Tensors of more elements than 32 bits can count, on llvm_cpu. Of what is read, memory that was
// never written takes none; an output of 4 GiB is for the full sweep (STRIA_HUGE_OUTPUTS).
#include <gtest/gtest.h>

#include <cstdlib>

#include "stria/runtime/runtime.h"

namespace stria::llvm_cpu {
namespace {

constexpr int64_t kBeyond = (int64_t{1} << 32) + 77;  // elements

class HugeSizes : public testing::Test {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"llvm_cpu"};
    auto device = Runtime(options).open("llvm_cpu");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  Executable compile(const std::string& text, const InputTypes& types) {
    auto program = Program::from_tile({"test.tile", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    auto executable = device_.compile(*program, types);
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return *executable;
  }
  Device device_;
};

TEST_F(HugeSizes, ElementsBeyond32BitsAreRead) {
  const Executable every = compile("function (A[N]) -> (R) { R[i : 9] = =(A[536870912*i]); }",
                                   {{"A", {DataType::u8, {kBeyond}}}});
  const int64_t columns = 65539;  // rows of a matrix
  const Executable sums = compile("function (A[M, N]) -> (R) { R[i : 4] = +(A[21845*i, j]); }",
                                  {{"A", {DataType::u8, {65536, columns}}}});
  const Tensor flat = *device_.create_tensor(DataType::u8, {kBeyond}),
               matrix = *device_.create_tensor(DataType::u8, {65536, columns});
  for (const auto& [tensor, places] :
       {std::pair(flat, std::vector<int64_t>{0, 1, 536870912, int64_t{1} << 31, int64_t{3} << 30,
                                             int64_t{1} << 32}),
        std::pair(matrix, std::vector<int64_t>{})}) {
    auto mapping = tensor.map_discard();
    ASSERT_TRUE(mapping.ok() && mapping->ready().wait().ok());
    auto* data = reinterpret_cast<uint8_t*>(mapping->data());
    for (int64_t n = 0; n <= 8; ++n)
      if (!places.empty()) data[536870912 * n] = static_cast<uint8_t>(10 + n);
    if (places.empty())
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < columns; ++j)
          data[21845 * i * columns + j] = static_cast<uint8_t>((i + 1) * (j % 7));
    ASSERT_TRUE(mapping->unmap().ok());
  }
  const Tensor nine = *device_.create_tensor(every.outputs()[0]);
  ASSERT_TRUE(every.run({flat}, {nine})->wait().ok());
  EXPECT_EQ(*nine.read_values<uint8_t>(),
            (std::vector<uint8_t>{10, 11, 12, 13, 14, 15, 16, 17, 18}));
  const Tensor four = *device_.create_tensor(sums.outputs()[0]);
  ASSERT_TRUE(sums.run({matrix}, {four})->wait().ok());
  uint32_t row = 0;
  for (int64_t j = 0; j < columns; ++j) row += static_cast<uint32_t>(j % 7);
  EXPECT_EQ(*four.read_values<uint32_t>(), (std::vector<uint32_t>{row, 2 * row, 3 * row, 4 * row}));
}

TEST_F(HugeSizes, ElementsBeyond32BitsAreWritten) {
  if (std::getenv("STRIA_HUGE_OUTPUTS") == nullptr) GTEST_SKIP() << "STRIA_HUGE_OUTPUTS is not set";
  // Nine elements, and zero elsewhere.
  const Executable spread =
      compile("function (A[N]) -> (R) { R[536870912*i : 4294967373] = =(A[i]); }",
              {{"A", {DataType::u8, {9}}}});
  const Tensor a = *device_.create_tensor(DataType::u8, {9}),
               r = *device_.create_tensor(spread.outputs()[0]);
  ASSERT_EQ(r.element_count(), kBeyond);
  ASSERT_TRUE(a.write_values(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}).ok());
  ASSERT_TRUE(spread.run({a}, {r})->wait().ok());
  auto mapping = r.map_current();
  ASSERT_TRUE(mapping.ok() && mapping->ready().wait().ok());
  const auto* data = reinterpret_cast<const uint8_t*>(mapping->data());
  int64_t others = 0;
  for (int64_t n = 0; n < kBeyond; ++n) {
    if (n % 536870912 == 0) {
      EXPECT_EQ(data[n], n / 536870912 + 1);
    } else {
      others += data[n] != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(others, 0);
}

}  // namespace
}  // namespace stria::llvm_cpu
