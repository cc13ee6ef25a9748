// SPDX-License-Identifier: Apache-2.0
// Programs of thousands of statements, and messages about things of any length. The work that such
// programs take grows with their length: what grows with its square does not end before the test's
// time limit, which is generous. No time is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "command.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::end_to_end {
namespace {

using testing::HasSubstr;

// T0 = A * 2; T1 = …; R = T<n-1>: each line is made from the number of the statement.
std::string chain(int count, const std::function<std::string(int)>& line,
                  const std::string& parameters = "A[N]") {
  std::string out = "function (" + parameters + ") -> (R) {\n  T0 = A * 2.0;\n";
  for (int i = 1; i < count; ++i) out += "  " + line(i) + "\n";
  return out + fmt::format("  R = T{} + 0.5;\n}}\n", count - 1);
}

std::string step(int i) {
  static const char* const kSteps[] = {"T{} = T{} + 1.5;", "T{} = abs(T{});", "T{} = T{} * 0.5;"};
  return fmt::format(fmt::runtime(kSteps[i % 3]), i, i - 1);
}

class LongPrograms : public testing::Test {
 protected:
  // Compiles; the device Stripe.
  std::string compile(const std::string& text, const std::string& device,
                      const std::string& shapes = "--shape A=64") {
    folder_.write("p.tile", text);
    const Ended ended =
        folder_.stria(words("compile p.tile --device " + device + " " + shapes + " -o o.stripe"));
    EXPECT_EQ(ended.code, 0) << device << ": " << ended.err;
    return folder_.read("o.stripe");
  }
  // The longest line that names a kernel, and the deepest indentation: two blanks for each block.
  static void expect_short_and_flat(const std::string& stripe, const std::string& what) {
    std::istringstream lines(stripe);
    size_t deepest = 0, longest = 0;
    for (std::string line; std::getline(lines, line);) {
      deepest = std::max(deepest, line.find_first_not_of(' '));
      if (line.find("block [") != std::string::npos) longest = std::max(longest, line.size());
    }
    EXPECT_LE(deepest, 16U) << what;
    EXPECT_LE(longest, 600U) << what;
  }
  void expect_short_message(int code, const std::vector<std::string>& command,
                            const std::string& says) {
    const Ended ended = folder_.stria(command);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_LE(ended.err.size(), kMaxMessageBytes) << ended.err.substr(0, 4000);
    EXPECT_THAT(ended.err, HasSubstr(says));
  }
  Folder folder_;
};

TEST_F(LongPrograms, ChainsOfTenThousand) {
  const std::string text = chain(10'000, step);
  for (const char* device : {"reference", "llvm_cpu"})
    expect_short_and_flat(compile(text, device), device);
}

TEST_F(LongPrograms, ValuesThatSeveralLaterStatementsUse) {
  const auto line = [](int i) {
    return i < 3 ? step(i) : fmt::format("T{} = T{} * 0.5 + T{} - T{};", i, i - 1, i - 2, i - 3);
  };
  expect_short_and_flat(compile(chain(5'000, line), "llvm_cpu"), "near");
  const auto far = [](int i) { return fmt::format("T{} = T{} * 0.5 + T{};", i, i - 1, i / 2); };
  expect_short_and_flat(compile(chain(3'000, far), "llvm_cpu"), "far");
}

TEST_F(LongPrograms, ManyInputs) {
  std::string parameters = "A[N]", shapes = "--shape A=64";
  for (int i = 1; i < 1000; ++i) {
    parameters += fmt::format(", I{}[N]", i);
    shapes += fmt::format(" --shape I{}=64", i);
  }
  const auto line = [](int i) { return fmt::format("T{} = T{} + I{};", i, i - 1, i); };
  expect_short_and_flat(compile(chain(1000, line, parameters), "llvm_cpu", shapes), "inputs");
}

TEST_F(LongPrograms, KernelsThatDoNotFuse) {
  const auto line = [](int i) {
    return fmt::format("T{}[i : N] = +(T{}[i + j - 1]), j < 3;", i, i - 1);
  };
  compile(chain(2'000, line), "llvm_cpu");
}

// Each gets a block that starts its sums, beside it among all others.
TEST_F(LongPrograms, TenThousandSums) {
  const auto line = [](int i) {
    return fmt::format("T{}[i : N] = +(W[i, j] * T{}[j]);", i, i - 1);
  };
  const std::string stripe =
      compile(chain(10'000, line, "A[N], W[N, N]"), "reference", "--shape A=8 --shape W=8,8");
  size_t starts = 0;
  for (size_t at = 0; (at = stripe.find("_init\n", at)) != std::string::npos; ++at) ++starts;
  EXPECT_EQ(starts, 9'999U);
}

// Each piece leaves most of its tensor unwritten; the warnings of that are no work.
TEST_F(LongPrograms, RunningSumsOfPieces) {
  std::string text = "function (A[N]) -> (S2999) {\n  S0[i : 12000] = =(A[i]);\n";
  for (int i = 1; i < 3'000; ++i)
    text +=
        fmt::format("  P{0}[i + {1} : 12000] = =(A[i]);\n  S{0} = S{2} + P{0};\n", i, 4 * i, i - 1);
  const std::string stripe = compile(text + "}\n", "reference", "--shape A=4");
  size_t pieces = 0;
  for (size_t at = 0; (at = stripe.find("#piece", at)) != std::string::npos; ++at) ++pieces;
  EXPECT_EQ(pieces, 3'000U);
}

TEST_F(LongPrograms, ScalarsAndTensorsOfRankFour) {
  compile(chain(3'000, step, "A[]"), "llvm_cpu", "--shape A=");
  compile(chain(3'000, step, "A[B, C, D, E]"), "llvm_cpu", "--shape A=2,3,4,5");
}

// What is computed is what each statement says, across kernels that were cut for their length.
TEST_F(LongPrograms, TheValuesAreRight) {
  folder_.write("p.tile", chain(2'000, step));
  const Ended ended =
      folder_.stria(words("run p.tile --device llvm_cpu --input A=random:1 --shape A=100 --check"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("ok"));
}

TEST_F(LongPrograms, FormattedAndDerived) {
  folder_.write("p.tile", chain(10'000, step));
  const Ended formatted = folder_.stria(words("fmt p.tile"));
  EXPECT_EQ(formatted.code, 0) << formatted.err;
  const Ended derived = folder_.stria(words("grad p.tile"));
  EXPECT_EQ(derived.code, 0) << derived.err;
}

// A chain through `fusion` alone: one block, or a block for each part that is long enough.
TEST_F(LongPrograms, FusedBlocksAreFlat) {
  std::string stripe = compile(chain(400, step), "reference");
  folder_.write("chain.stripe", stripe);
  folder_.write("fuse.json", R"([{"fusion": {"a_reqs": ["eltwise"], "b_reqs": ["eltwise"],
    "fused_set": ["eltwise"], "perfect": true, "local": true, "max_statements": 100000}}])");
  const Ended ended = folder_.stria(words("opt chain.stripe --pipeline fuse.json"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_short_and_flat(ended.out, "fusion");
}

// A nest of `depth` blocks around one statement, in #main.
std::string nest(int depth) {
  std::string text =
      "stripe 1.0\n0: #program block [] (\n    none new@0x0 A[0] fp32(8:1)\n"
      "    none new@0x0 R[0] fp32(8:1)\n) {\n  0: #main block [] (\n    in A[0] fp32(8:1)\n    out "
      "R[0] fp32(8:1)\n) {\n"
      "0: #kernel block [i:8] (\n in A[i] fp32(1:1)\n out R[i] fp32(1:1)\n) {\n";
  for (int i = 3; i < depth; ++i)
    text += "0: block [] (\n in A[0] fp32(1:1)\n out R[0] fp32(1:1)\n) {\n";
  text += "0: $a = load(A)\n1: R = store($a)\n";
  for (int i = 0; i < depth; ++i) text += "}\n";
  return text;
}

TEST_F(LongPrograms, TheLimitOfNestingRefuses) {
  folder_.write("tile.json", R"([{"tile": {"reqs": ["kernel"], "tile_sizes": {"i": 4}}}])");
  folder_.write("deep.stripe", nest(127));
  EXPECT_EQ(folder_.stria(words("opt deep.stripe --pipeline tile.json")).code, 0);
  folder_.write("deeper.stripe", nest(128));
  expect_short_message(1, words("opt deeper.stripe --pipeline tile.json"),
                       "nests blocks deeper than the limit of 128");
  folder_.write("deepest.stripe", nest(129));
  expect_short_message(1, words("opt deepest.stripe"),
                       "blocks are nested deeper than the limit of 128");
}

TEST_F(LongPrograms, MessagesAreShort) {
  const std::string word(100'000, 'x');
  folder_.write("a.tile", "function (A[N]) -> (R) { R = A; }\n");
  expect_short_message(2, {"run", "a.tile", "--device", "reference", "--" + word}, "no option");
  expect_short_message(2, {word}, "no verb");
  expect_short_message(
      2, {"compile", "a.tile", "--device", "reference", "--shape", "A=" + word, "-o", "-"},
      "bytes left out");
  expect_short_message(2, {"compile", "a.tile", "--device", word, "--shape", "A=2", "-o", "-"},
                       "the limit is");
  const std::string device(16'000, 'n');
  expect_short_message(3, {"compile", "a.tile", "--device", device, "--shape", "A=2", "-o", "-"},
                       "");
  expect_short_message(
      1, {"compile", word.substr(0, 200) + ".tile", "--device", "reference", "-o", "-"}, "");
  // An option of a pass, 10 MB long.
  folder_.write("a.stripe", nest(3));
  folder_.write("long.json", R"([{"autotile": {"reqs": ["kernel"], "cost": ")" +
                                 std::string(10'000'000, 'y') + R"("}}])");
  expect_short_message(1, words("opt a.stripe --pipeline long.json"), "autotile");
  folder_.write("key.json", R"([{")" + std::string(10'000'000, 'z') + R"(": {}}])");
  expect_short_message(1, words("opt a.stripe --pipeline key.json"), "unknown pass");
  // A program of long names.
  const std::string name(10'000, 'Q');
  folder_.write("names.tile", "function (A[N]) -> (R) { " + name + " = A; R = " + name + "1; }\n");
  expect_short_message(1, words("compile names.tile --device reference --shape A=2 -o -"),
                       "error: ");
  std::string many = "function (A[N]) -> (R) {\n";
  for (int i = 0; i < 100; ++i) many += fmt::format("  {}{} = B{};\n", name, i, i);
  folder_.write("many.tile", many + "  R = A;\n}\n");
  expect_short_message(1, words("compile many.tile --device reference --shape A=2 -o -"), "error");
  // Kernels of long names that a pass does not like.
  std::string stripe = nest(3);
  const size_t kernel = stripe.find("#kernel block [i:8] (\n");
  stripe.insert(kernel + 21, " // " + name);
  folder_.write("kernel.stripe", stripe);
  folder_.write("thread.json", R"([{"thread": {"min_work": 1000000}}])");
  const Ended ended =
      folder_.stria(words("opt kernel.stripe --pipeline thread.json --explain thread"));
  std::istringstream lines(ended.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kMaxMessageBytes + 16);
}

}  // namespace
}  // namespace stria::end_to_end
