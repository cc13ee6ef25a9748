// SPDX-License-Identifier: Apache-2.0
// `stria reduce`: the failure stays, the rest goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Two kernels; the second has two views of what it sums into, which `agg_init` does not take.
constexpr const char* kProgram = R"(stripe 1.0
0: #program block [] ( // sums
    none new@0x00000000 A[0, 0] fp32(6:8, 8:1)
    none new@0x00000000 O[0] fp32(8:1)
) {
  0: #main block [] ( // main
      in A[0, 0] fp32(6:8, 8:1)
      inout O[0] fp32(8:1)
      none new@0x00000000 T[0, 0] fp32(6:8, 8:1)
  ) {
    0: #kernel #elementwise block [i:6, j:8] ( // kernel_0
        // T = tanh(A)
        in A[i, j] fp32(1:8, 1:1)
        out T[i, j] fp32(1:8, 1:1)
    ) {
      0: $a = load(A)
      1: $t = tanh.fp32($a)
      2: T = store($t)
    }
    1: #kernel #contraction block [i:6, j:8] ( // kernel_1
        in T[i, j] fp32(1:8, 1:1)
        out O[0]:add.fp32 fp32(8:1)
    ) {
      0: block [i:1 = i, j:1 = j] (
          7 - i - j >= 0
          in T[0, 0] fp32(1:8, 1:1)
          out O[j]:add.fp32 fp32(1:1)
          out P = O[i]:add.fp32 fp32(1:1)
      ) {
        0: $t = load(T)
        1: $u = mul.fp32($t, $t)
        2: O = store($t)
        3: P = store($u)
      }
    }
  }
}
)";

int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

class Reduce : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("p.stripe", kProgram);
    folder_.write("passes.json", R"([{"agg_init": {}}])");
  }
  void expect(int code, const std::vector<std::string>& arguments, const std::string& message) {
    const Ended ended = folder_.stria(arguments);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message));
    EXPECT_EQ(ended.out, "");
  }
  Folder folder_;
};

TEST_F(Reduce, KeepsThePassThatFails) {
  const Ended ended = folder_.stria({"reduce", "p.stripe", "--pipeline", "passes.json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the written tensor has two views in one block"));
  EXPECT_THAT(ended.err, HasSubstr("37 lines became "));
  EXPECT_LE(lines(ended.out), 25) << ended.out;
  EXPECT_EQ(ended.out.find("tanh"), std::string::npos) << ended.out;
  folder_.write("small.stripe", ended.out);
  const Ended again = folder_.stria(words("opt small.stripe --pipeline passes.json --repro-dir ."));
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("the written tensor has two views in one block"));
}

TEST_F(Reduce, AReproducerStaysOne) {
  ASSERT_EQ(folder_.stria(words("opt p.stripe --pipeline passes.json --repro-dir .")).code, 1);
  std::string repro;
  for (const std::string& name : folder_.files())
    if (name.starts_with("stria-repro-")) repro = name;
  ASSERT_NE(repro, "");
  const Ended ended = folder_.stria({"reduce", repro, "-o", "small.stripe"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(folder_.read("small.stripe"), StartsWith("// stria reproducer 1\n"));
  EXPECT_LT(lines(folder_.read("small.stripe")), lines(folder_.read(repro)));
  const Ended again = folder_.stria(words("opt --run-repro small.stripe"));
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("the written tensor has two views in one block"));
}

TEST_F(Reduce, KeepsWhatACommandFinds) {
  const Ended ended = folder_.stria({"reduce", "p.stripe", "--test", "! grep -q tanh {}"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("tanh"));
  EXPECT_LE(lines(ended.out), 13) << ended.out;
  const Ended said =
      folder_.stria({"reduce", "p.stripe", "--test", "grep contraction", "--says", "#contraction"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("#contraction block"));
  EXPECT_LE(lines(said.out), 10) << said.out;
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"p.stripe", "passes.json"}));
}

TEST_F(Reduce, ProgramsThatAreNotLegal) {
  std::string text = kProgram;
  text.replace(text.find("load(A)"), 7, "load(B)");
  folder_.write("wrong.stripe", text);
  const std::vector<std::string> command = {"reduce",         "wrong.stripe", "--test",
                                            "grep 'load(B)'", "--says",       "load(B)"};
  expect(1, command, "'wrong.stripe' is not legal itself; --invalid takes it");
}

TEST_F(Reduce, Refuses) {
  expect(1, words("reduce p.stripe --test true"),
         "'p.stripe' does not fail: there is nothing to keep");
  folder_.write("fine.json", R"([{"prune": {}}])");
  expect(1, words("reduce p.stripe --pipeline fine.json"), "does not fail");
  expect(2, words("reduce p.stripe"), "what fails? Give --pipeline or --test, or a reproducer");
  expect(2, words("reduce p.stripe --test x --pipeline fine.json"), "exclude each other");
  expect(2, words("reduce p.stripe --pipeline fine.json --says x"), "--says needs --test");
  expect(2, words("reduce p.stripe --test false --exact"), "--exact is of values");
  expect(2, words("reduce p.stripe --pipelin fine.json"), "--pipeline");
  expect(1, words("reduce no.stripe --test true"), "no.stripe");
  folder_.write("unknown.json", R"([{"prun": {}}])");
  expect(1, words("reduce p.stripe --pipeline unknown.json"),
         "unknown pass, did you mean 'prune'?");
}

}  // namespace
}  // namespace stria::end_to_end
