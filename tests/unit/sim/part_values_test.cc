// SPDX-License-Identifier: Apache-2.0
// Values in the memories that a schedule names: right where the placement is, destroyed where two
// tensors are alive at one place.
#include "values/part_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// B = A + A through T, C = A; `at` is where C's copy in the scratchpad lies; T is at 0.
std::string text(int at) {
  return fmt::format(R"(stripe 1.0
0: #program #placed block [] ( // p
    none new@0x0<DRAM[0]> A[0] i32(4:1)
    none new@0x10<DRAM[0]> B[0] i32(4:1)
    none new@0x20<DRAM[0]> C[0] i32(4:1)
) {{
  0: #main block [] ( // main
      in<DRAM[0]> A[0] i32(4:1)
      out<DRAM[0]> B[0] i32(4:1)
      out<DRAM[0]> C[0] i32(4:1)
      none new@0x0<SRAM[0]> T[0] i32(4:1)
      none new@0x{:x}<SRAM[0]> U[0] i32(4:1)
  ) {{
    0: block<DSP> [x:4] (in<DRAM[0]> A[x] i32(1:1), out<SRAM[0]> T[x] i32(1:1)) {{
      0: $a = load(A)
      1: $t = add.i32($a, $a)
      2: T = store($t)
    }}
    1: block<DMA> [x:4] (in<DRAM[0]> A[x] i32(1:1), out<SRAM[0]> U[x] i32(1:1)) {{
      0: $a = load(A)
      1: U = store($a)
    }}
    2: block<DMA> [x:4] (in<SRAM[0]> T[x] i32(1:1), out<DRAM[0]> B[x] i32(1:1)) {{
      0: $t = load(T)
      1: B = store($t)
    }}
    3: block<DMA> [x:4] (in<SRAM[0]> U[x] i32(1:1), out<DRAM[0]> C[x] i32(1:1)) {{
      0: $u = load(U)
      1: C = store($u)
    }}
  }}
}}
)",
                     at);
}

struct Results {
  std::vector<int32_t> b = std::vector<int32_t>(4), c = std::vector<int32_t>(4);
};

Results run(const std::string& stripe, std::vector<size_t> order = {0, 1, 2, 3}) {
  auto program = stripe::parse({"test", stripe});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  auto values = PartValues::make(*program->main(), true);
  EXPECT_TRUE(values.ok()) << values.status().to_string();
  // Outputs first, then inputs.
  EXPECT_EQ(values->arguments()[2].name, "A");
  Results out;
  std::vector<int32_t> a = {1, 2, 3, 4};
  void* arguments[] = {out.b.data(), out.c.data(), a.data()};
  const Status status = values->run(arguments, order);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return out;
}

TEST(PartValues, TensorsLieInTheMemoriesThatThePlacementNames) {
  const Results apart = run(text(16));
  EXPECT_THAT(apart.b, ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(apart.c, ElementsAre(1, 2, 3, 4));
}

TEST(PartValues, WhatIsPlacedWhereAnotherIsAliveDestroysIt) {
  // The upper half of T is the lower half of U.
  EXPECT_THAT(run(text(8)).b, ElementsAre(2, 4, 1, 2));
  EXPECT_THAT(run(text(8)).c, ElementsAre(1, 2, 3, 4));
}

TEST(PartValues, StatementsRunInTheGivenOrder) {
  EXPECT_THAT(run(text(8), {0, 2, 1, 3}).b, ElementsAre(2, 4, 6, 8));
}

Status why_not(const std::string& stripe, const std::vector<size_t>& order) {
  auto program = stripe::parse({"test", stripe});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  std::vector<int32_t> a = {1, 2, 3, 4}, b(4), c(4);
  void* arguments[] = {b.data(), c.data(), a.data()};
  return PartValues::make(*program->main(), true)->run(arguments, order);
}

TEST(PartValues, WhatNothingWasWrittenToReachesNoTensorOfTheCaller) {
  EXPECT_THAT(why_not(text(16), {2, 0, 1, 3}).to_string(), HasSubstr("never written"));
  // Of T one half is written, byte by byte: U lies over it.
  EXPECT_THAT(why_not(text(8), {1, 2, 0, 3}).to_string(), HasSubstr("never written"));
  // What is written in part, and read where it is.
  std::string half = text(16);
  const auto replace = [&](const std::string& from, const std::string& to, size_t at) {
    half.replace(half.find(from, at), from.size(), to);
  };
  const size_t second = half.find("1: block<DMA>");
  replace("[x:4]", "[x:3]", second);  // U gets three of four
  EXPECT_THAT(why_not(half, {0, 1, 2, 3}).to_string(), HasSubstr("never written"));
  replace("[x:4]", "[x:3]", half.find("3: block<DMA>"));
  EXPECT_TRUE(why_not(half, {0, 1, 2, 3}).ok());
}

// Between memories what was never written may move: nobody has used it.
TEST(PartValues, PoisonMovesBetweenMemories) {
  std::string moved = text(16);
  for (int n : {3, 2})
    moved.replace(moved.find(fmt::format("{}: block<DMA>", n)), 1, std::to_string(n + 1));
  const size_t third = moved.find("3: block<DMA>");
  moved.insert(third,
               R"(2: block<DMA> [x:4] (in<SRAM[0]> T[x] i32(1:1), out<SRAM[0]> U[x] i32(1:1)) {
      0: $t = load(T)
      1: U = store($t)
    }
    )");
  EXPECT_TRUE(why_not(moved, {2, 0, 1, 3, 4}).ok());
  // U is T's, of before it was made.
  EXPECT_THAT(why_not(moved, {1, 2, 0, 3, 4}).to_string(), HasSubstr("never written"));
}

TEST(PartValues, SaysWhatEachMemoryHolds) {
  auto program = stripe::parse({"test", text(64)});
  ASSERT_TRUE(program.ok());
  auto values = PartValues::make(*program->main(), true);
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->memories().size(), 1u);
  EXPECT_EQ(values->memories()[0].name, "SRAM[0]");
  EXPECT_EQ(values->memories()[0].bytes, 80);
}

}  // namespace
}  // namespace stria::sim
