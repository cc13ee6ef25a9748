// SPDX-License-Identifier: Apache-2.0
#include "stria/type/host_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace stria {
namespace {

using testing::HasSubstr;

TEST(HostTensor, SizesAndMemory) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{}, {0}, {5, 0, 3}, {7}, {2, 3, 4}}) {
    auto tensor = HostTensor::create(DataType::i16, sizes, "t");
    ASSERT_TRUE(tensor.ok());
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    EXPECT_EQ(tensor->element_count(), count);
    EXPECT_EQ(tensor->byte_count(), static_cast<size_t>(2 * count));
    ASSERT_NE(tensor->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0u);
    std::memset(tensor->data(), 1, tensor->byte_count());
    EXPECT_EQ(tensor->bytes(), std::string(tensor->byte_count(), '\1'));
  }
}

TEST(HostTensor, RefusesWhatCannotBe) {
  auto failure = [](std::vector<int64_t> sizes) {
    auto tensor = HostTensor::create(DataType::fp32, std::move(sizes), "input 'A'");
    return tensor.ok() ? "ok" : tensor.status().message();
  };
  EXPECT_THAT(failure({2, -1}), HasSubstr("input 'A'"));
  EXPECT_THAT(failure({int64_t{1} << 61, 2}), HasSubstr("2^63 bytes"));
  EXPECT_THAT(failure({0, int64_t{1} << 61, 2}), HasSubstr("2^63 bytes"));
  EXPECT_THAT(failure({int64_t{1} << 60}), HasSubstr("no host memory"));
}

TEST(HostTensor, ClonesAndReinterprets) {
  auto tensor = HostTensor::create(DataType::u16, {3}, "t");
  std::memcpy(tensor->data(), "abcdef", 6);
  auto copy = tensor->clone();
  ASSERT_TRUE(copy.ok());
  EXPECT_NE(copy->data(), tensor->data());
  EXPECT_EQ(copy->bytes(), "abcdef");
  copy->reinterpret_as(DataType::bf16);
  EXPECT_EQ(copy->type(), DataType::bf16);
  EXPECT_EQ(copy->bytes(), "abcdef");
  EXPECT_EQ(HostTensor().element_count(), 0);
  EXPECT_TRUE(HostTensor().clone().ok());
}

}  // namespace
}  // namespace stria
