// SPDX-License-Identifier: Apache-2.0
// Memory that two mappings of one file share.
#include "stria/hal/isolation/shared_heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

namespace stria::hal::isolation {
namespace {

class SharedHeapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(host_.create().ok());
    ASSERT_TRUE(plugin_.attach(::dup(host_.descriptor()), host_.bytes()).ok());
  }
  SharedHeap host_, plugin_;
};

TEST_F(SharedHeapTest, BothSidesSeeTheSameBytes) {
  auto* const memory = static_cast<std::byte*>(plugin_.allocate(1000, 64));
  ASSERT_NE(memory, nullptr);
  ASSERT_TRUE(plugin_.holds(memory, 1000));
  std::memset(memory, 42, 1000);
  std::byte* const seen = host_.at(plugin_.place_of(memory), 1000);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen[999], std::byte{42});
  EXPECT_FALSE(plugin_.holds(&host_, 1));
  EXPECT_EQ(host_.at(host_.bytes(), 1), nullptr);
  EXPECT_EQ(host_.at(UINT64_MAX, 1), nullptr);
}

TEST_F(SharedHeapTest, NobodyShortensIt) { EXPECT_NE(::ftruncate(host_.descriptor(), 0), 0); }

TEST_F(SharedHeapTest, GivesWhatWasGivenBack) {
  std::mt19937 random(7);
  struct Part {
    unsigned char* memory;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Part> parts;
  for (int i = 0; i < 3000; ++i) {
    if (parts.size() > 100 || (random() % 3 == 0 && !parts.empty())) {
      std::swap(parts[random() % parts.size()], parts.back());
      for (size_t at = 0; at < parts.back().bytes; at += 61)
        ASSERT_EQ(parts.back().memory[at], parts.back().mark);
      plugin_.free(parts.back().memory);
      parts.pop_back();
      continue;
    }
    const size_t bytes = random() % (random() % 8 == 0 ? 3'000'000 : 3000);
    const size_t alignment = size_t{1} << random() % 15;
    auto* const memory = static_cast<unsigned char*>(plugin_.allocate(bytes, alignment));
    ASSERT_NE(memory, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    const auto mark = static_cast<unsigned char>(i);
    if (bytes > 0) std::memset(memory, mark, bytes);
    parts.push_back({memory, bytes, mark});
  }
  for (const Part& part : parts) plugin_.free(part.memory);
  // All of it is one piece again.
  EXPECT_NE(plugin_.allocate(host_.bytes(), 64), nullptr);
  EXPECT_EQ(plugin_.allocate(1, 64), nullptr);
}

}  // namespace
}  // namespace stria::hal::isolation
