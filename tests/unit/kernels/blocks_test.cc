// SPDX-License-Identifier: Apache-2.0
// Nests of blocks with random indices, constraints and tags run exactly the points that the
// interpreter runs: each point adds a number of its own to an element that depends on it.
#include <gtest/gtest.h>

#include "kernel_runner.h"
#include "stria/poly/affine.h"

namespace stria::kernels {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  int64_t below(int64_t n) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t a, int64_t b) { return a + below(b - a + 1); }

 private:
  uint64_t state_;
};

constexpr int64_t kSize = 97;

std::string form(Random& random, const std::vector<std::string>& names, int64_t constant,
                 int64_t reach) {
  Affine sum(constant);
  for (const std::string& name : names)
    if (random.below(3) != 0) sum.add_term(name, random.between(-reach, reach));
  return sum.to_string();
}

// Each level adds to the refinement's offset; offsets stay inside R, whose middle is the start.
std::string block(Random& random, int depth, const std::vector<std::string>& outer, bool kernel) {
  static const char* const kLetters = "abcdefgh";
  std::vector<std::string> names;
  std::string indices;
  const bool leaf = depth == 0;
  const int64_t kind = kernel ? random.below(2) : leaf ? random.below(4) : random.below(3);
  const char* tags = kernel      ? (kind == 0 ? "#kernel #parallel " : "#kernel ")
                     : kind == 0 ? "#unroll "
                     : kind == 3 ? "#vector "
                                 : "";
  const int64_t count = kind == 3 ? 1 : random.between(1, kernel ? 3 : 2);
  for (int64_t i = 0; i < count; ++i) {
    names.push_back(fmt::format("{}{}", kLetters[depth], i));
    const int64_t range = kind == 3 ? random.between(2, 9) : random.between(1, 3);
    const bool follows = !outer.empty() && random.below(3) == 0;
    indices += fmt::format("{}{}:{}{}", indices.empty() ? "" : ", ", names.back(), range,
                           follows ? " = " + form(random,
                                                  {outer[static_cast<size_t>(random.below(
                                                      static_cast<int64_t>(outer.size())))]},
                                                  random.between(-2, 2), 2)
                                   : "");
  }
  for (const std::string& name : outer) {
    if (random.below(2) == 0) continue;
    indices += fmt::format(", p{}:1 = {}", name, name);
    names.push_back("p" + name);
  }
  std::string constraints;
  for (int64_t i = random.below(3); i > 0; --i)
    constraints += form(random, names, random.between(-1, 4), 2) + " >= 0\n";
  const std::string access = form(random, {names[0]}, kernel ? kSize / 2 : 0, leaf ? 2 : 1);
  const std::string view = fmt::format("inout R[{}]:add.i32 i32(1:1)", access);
  std::string statements = leaf ? fmt::format("0: $n = load_index.i32({})\n1: R = store($n)\n",
                                              form(random, names, 1, 5))
                                : fmt::format("0: {}\n", block(random, depth - 1, names, false));
  if (!leaf && random.below(3) == 0)
    statements += fmt::format("1: {}\n", block(random, depth - 1, names, false));
  return fmt::format("{}block [{}] (\n{}{}) {{\n{}}}", tags, indices, constraints, view,
                     statements);
}

TEST(Blocks, RandomNestsRunTheSamePoints) {
  int different = 0, compared = 0;
  for (uint64_t seed = 1; seed <= 80 && different < 3; seed += static_cast<uint64_t>(kOneOf)) {
    Random random(seed);
    TestTensor out{"R", DataType::i32, {kSize}, "inout"};
    std::vector<std::string> kernels;
    for (int i = 0; i < 3; ++i)
      kernels.push_back(block(random, static_cast<int>(random.between(1, 3)), {}, true));
    const std::string text = program_text({out}, kernels);
    Result<Values> reference = run_interpreted(text, {}, seed);
    // A program that leaves R's bounds says nothing.
    if (!reference) {
      if (reference.status().message().find("outside") == std::string::npos)
        ADD_FAILURE() << reference.status().message() << text;
      continue;
    }
    const std::string problem = difference(text, 0, 0, {}, seed);
    EXPECT_EQ(problem, "") << "seed " << seed << "\n" << text;
    different += !problem.empty();
    ++compared;
  }
  EXPECT_GE(compared, 60 / kOneOf);
}

// The language lets parallel points add to one element (S2); the host's threads and a device's
// lanes must not lose any.
TEST(Blocks, ParallelPointsThatAddToOneElementTakeTurns) {
  TestTensor out{"R", DataType::i32, {8}, "inout"};
  for (const char* access : {"0", "k", "px + k", "2*px + k"}) {
    const std::string text = fmt::format(
        "#kernel #parallel block [x:4, y:30000] (\ninout R[0]:add.i32 i32(8:1)) {{\n0: block [k:2, "
        "px:1 = x, py:1 = y] (\n"
        "inout R[{}]:add.i32 i32(1:1)) {{\n0: $n = load_index.i32(px + 3*py + k)\n1: R = "
        "store($n)\n}}\n}}",
        access);
    EXPECT_EQ(difference(program_text({out}, {text})), "") << text;
  }
}

TEST(Blocks, LanesThatStoreToOneElementLeaveTheLast) {
  TestTensor in{"A", DataType::i32, {24}}, out{"R", DataType::i32, {3}, "out"};
  for (const char* constraint : {"", "5 - l >= 0\n"}) {
    const std::string text = fmt::format(
        "#kernel block [x:3] (\nin {}\nout {}) {{\n0: #vector block [l:8] (\n{}in {}\nout R[0] "
        "i32(1:1)) {{\n0: $a = load(A)\n1: R = store($a)\n}}\n}}",
        element_view(in, "8*x"), element_view(out, "x"), constraint, element_view(in, "l"));
    EXPECT_EQ(difference(program_text({in, out}, {text})), "");
  }
}

TEST(Blocks, AllocationsOfLanesArePrivate) {
  TestTensor in{"A", DataType::i32, {16}}, out{"R", DataType::i32, {16}, "out"};
  const std::string text = fmt::format(
      "#kernel block [] (\nin {}\nout {}) {{\n0: #vector block [l:16] (\nin {}\nout {}\nnone "
      "new@0x0 t[0, 0] i32(1:3, 1:1)) {{\n"
      "0: $a = load(A)\n1: t = store($a)\n2: $b = load(t)\n3: $c = add.i32($a, $b)\n4: R = "
      "store($c)\n}}\n}}",
      element_view(in, "0"), element_view(out, "0"), element_view(in, "l"),
      element_view(out, "15 - l"));
  EXPECT_EQ(difference(program_text({in, out}, {text})), "");
}

TEST(Blocks, AllocationsWithVaryingSubscriptsAreOnTheStack) {
  TestTensor in{"A", DataType::bf16, {6}}, out{"R", DataType::bf16, {6}, "out"};
  const std::string text = fmt::format(
      "#kernel block [] (\nin {}\nout {}\nnone new@0x0<REG> t[0] bf16(6:1)) {{\n"
      "0: block [x:6] (\nin {}\nout t[5 - x] bf16(1:1)) {{\n0: $a = load(A)\n1: t = store($a)\n}}\n"
      "1: block [x:6] (\nin t[x] bf16(1:1)\nout {}) {{\n0: $a = load(t)\n1: R = store($a)\n}}\n}}",
      element_view(in, "0"), element_view(out, "0"), element_view(in, "x"), element_view(out, "x"));
  EXPECT_EQ(difference(program_text({in, out}, {text})), "");
}

TEST(Blocks, SpecialsOfWholeRefinements) {
  TestTensor in{"A", DataType::fp16, {3, 5}}, out{"R", DataType::fp32, {3, 5}, "out"},
      zero{"Z", DataType::u8, {7}, "out"};
  const char* nested =
      "#kernel #parallel block [x:3] (\nin A[x, 0] fp16(1:5, 5:1)\nout R[x, 0] fp32(1:5, 5:1)) "
      "{\n0: special copy(A; R)\n}";
  EXPECT_EQ(difference(program_text({in, out, zero}, {nested, "special zero(; Z)"})), "");
}

TEST(Blocks, NoPointsAndRankZero) {
  TestTensor in{"A", DataType::fp32, {}}, out{"R", DataType::fp32, {}, "out"};
  const char* text =
      "#kernel block [] (\nin A[] fp32()\nout R[] fp32()) {\n0: $a = load(A)\n1: R = store($a)\n}";
  EXPECT_EQ(difference(program_text({in, out}, {text})), "");
  TestTensor some{"R", DataType::fp32, {4}, "inout"};
  const char* none =
      "#kernel #parallel block [x:4] (\n-1 - x >= 0\ninout R[x] fp32(1:1)) {\n0: $a = "
      "(fp32)1.0\n1: R = store($a)\n}";
  EXPECT_EQ(difference(program_text({some}, {none})), "");
}

}  // namespace
}  // namespace stria::kernels
