// SPDX-License-Identifier: Apache-2.0
// Rules of Stripe that no other test of this folder is about, each by a program whose values differ
// if the rule were another.
#include "programs.h"

namespace stria::interp {
namespace {

using namespace testing;
using Values = std::vector<double>;

// What O holds after the kernels, on both paths of the interpreter; -1 where they have not written.
Values output(DataType type, int64_t size, const std::string& kernels) {
  const std::string tensor = fmt::format("{}({}:1)", name_of(type), size);
  const stripe::Program program = parsed(
      program_text("none new@0x0 O[0] " + tensor + "\n", "inout O[0] " + tensor + "\n", kernels));
  Values out;
  for (bool flat : {true, false}) {
    std::map<std::string, Data> data;
    data["O"] = Data(type, {size}, Values(static_cast<size_t>(size), -1));
    const Status status = run(program, data, {.flat_path = flat});
    EXPECT_TRUE(status.ok()) << status.to_string();
    if (!flat) {
      EXPECT_EQ(data["O"].values(), out);
    }
    out = data["O"].values();
  }
  return out;
}

TEST(S1, OncePerPointThatMeetsAllConstraints) {
  // i + j = 3 within 0 <= i < 3, 0 <= j < 4: three points, each adds 1.
  EXPECT_EQ(output(DataType::i32, 4,
                   "0: #kernel block [i:3, j:4] ( // k\n 3 - i - j >= 0\n -3 + i + j >= 0\n"
                   " out O[i]:add.i32 i32(1:1)\n) {\n 0: $one = (i32)1\n 1: O = store($one)\n}\n"),
            (Values{1, 1, 1, -1}));
}

TEST(S2, LoopsRunInLexicographicOrder) {
  // Without an aggregation the last point in the order of the index list stays: j = 3 for each i in
  // [i, j], and with [j, i] the last i.
  const std::string body = ") {\n 0: $v = load_index.i32(10*i + j)\n 1: O = store($v)\n}\n";
  EXPECT_EQ(
      output(DataType::i32, 2, "0: #kernel block [i:2, j:4] ( // k\n out O[i] i32(1:1)\n" + body),
      (Values{3, 13}));
  EXPECT_EQ(
      output(DataType::i32, 1, "0: #kernel block [i:2, j:4] ( // k\n out O[0] i32(1:1)\n" + body),
      (Values{13}));
  EXPECT_EQ(
      output(
          DataType::i32, 1,
          "0: #kernel block [j:4, i:2] ( // k\n 10 - 9*i - 2*j >= 0\n out O[0] i32(1:1)\n" + body),
      (Values{3}));  // (j, i) = (3, 0) comes after (0, 1)
}

TEST(S3, AnIndexWithAFormBringsTheParentsValueIn) {
  EXPECT_EQ(output(DataType::i32, 6,
                   "0: #kernel block [x:3] ( // k\n out O[2*x] i32(2:1)\n) {\n"
                   " 0: block [x:2, o:1 = 10*x] (\n  out O[x] i32(1:1)\n ) {\n"
                   "  0: $v = load_index.i32(o + x)\n  1: O = store($v)\n }\n}\n"),
            (Values{0, 1, 10, 11, 20, 21}));
}

TEST(S4, CoordinatesAddUpThroughViews) {
  // Base 1, steps of 3 and then of 1, in elements of the allocation; the view overhangs it.
  EXPECT_EQ(output(DataType::i32, 6,
                   "0: #kernel block [x:2] ( // k\n out O[1 + 3*x] i32(3:1)\n) {\n"
                   " 0: block [y:3, b:1 = 3*x] (\n  4 - b - y >= 0\n  out O[y] i32(1:1)\n ) {\n"
                   "  0: $v = load_index.i32(b + y)\n  1: O = store($v)\n }\n}\n"),
            (Values{-1, 0, 1, 2, 3, 4}));
}

TEST(S7, ALoadGivesTheStorageTypeAndAStoreConvertsOnce) {
  // 2.6 * 2 in fp64 truncates to 5 once; through an i32 in between it would be 4.
  EXPECT_EQ(output(DataType::i32, 1,
                   "0: #kernel block [] ( // k\n out O[0] i32(1:1)\n) {\n 0: $a = (fp64)2.6\n"
                   " 1: $b = (i32)2\n 2: $p = mul.fp64($a, $b)\n 3: O = store($p)\n}\n"),
            (Values{5}));
  // An intrinsic converts its operands to its own type first: 2 * 2.
  EXPECT_EQ(output(DataType::i32, 1,
                   "0: #kernel block [] ( // k\n out O[0] i32(1:1)\n) {\n 0: $a = (fp64)2.6\n"
                   " 1: $b = (i32)2\n 2: $p = mul.i32($a, $b)\n 3: O = store($p)\n}\n"),
            (Values{4}));
}

TEST(S8, LanesAndUnrollingChangeNoMeaning) {
  for (const char* tag : {"", "#vector ", "#unroll "})
    EXPECT_EQ(
        output(DataType::i32, 4,
               fmt::format("0: #kernel block [] ( // k\n out O[0] i32(4:1)\n) {{\n"
                           " 0: {}block [i:4] (\n  2 - i >= 0\n  out O[i]:add.i32 i32(1:1)\n ) {{\n"
                           "  0: $v = load_index.i32(7*i)\n  1: O = store($v)\n }}\n}}\n",
                           tag)),
        (Values{0, 7, 14, -1}))
        << tag;
}

}  // namespace
}  // namespace stria::interp
