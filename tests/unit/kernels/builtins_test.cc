// SPDX-License-Identifier: Apache-2.0
// Every builtin in every type that it exists for, one element at a time and by masked lanes, on
// numbers that include the edges of the type, against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernel_runner.h"
#include "stria/builtins/builtin.h"

namespace stria::kernels {
namespace {

constexpr int64_t kCount = 200;

// The tensors of `builtin` in `type`: operands "A0_i8", "A1_i8", …, results "R_i8" and "S_i8".
std::vector<TestTensor> tensors(const Builtin& builtin, DataType type) {
  std::vector<TestTensor> out;
  for (int i = 0; i < builtin.arity; ++i)
    out.push_back(
        {fmt::format("A{}_{}", i, name_of(type)), operand_type(builtin, type, i), {kCount}});
  for (const char* result : {"R", "S"})
    out.push_back(
        {fmt::format("{}_{}", result, name_of(type)), result_type(builtin, type), {kCount}, "out"});
  return out;
}

std::string body(const Builtin& builtin, DataType type, const char* out) {
  std::string text, operands;
  int number = 0;
  for (; number < builtin.arity; ++number) {
    text += fmt::format("{0}: $v{0} = load(A{0}_{1})\n", number, name_of(type));
    operands += fmt::format("{}$v{}", number ? ", " : "", number);
  }
  text += fmt::format("{}: $r = {}.{}({})\n", number, builtin.name, name_of(type), operands);
  return fmt::format("{{\n{}{}: {}_{} = store($r)\n}}", text, number + 1, out, name_of(type));
}

// Views of the operands and of the result whose name starts with `out`.
std::string views(const std::vector<TestTensor>& all, char out, const std::string& access) {
  std::string text;
  for (const TestTensor& tensor : all)
    if (tensor.name[0] == 'A' || tensor.name[0] == out)
      text += fmt::format("{} {}\n", tensor.dir, element_view(tensor, access));
  return text;
}

TEST(Builtins, EveryOneInEveryTypeByElementAndByLanes) {
  uint64_t types = 0;
  int number = 0;
  for (const Builtin* builtin : all_builtins()) {
    if (builtin->types == TypeRule::cast) continue;
    std::vector<TestTensor> all;
    std::vector<std::string> kernels;
    double ulps = 0;
    for (int t = 0; t < kDataTypeCount; ++t) {
      const DataType type = static_cast<DataType>(t);
      // Neighbouring builtins are sampled in different types.
      if (!allows(*builtin, type) || number++ % kOneOf != 0) continue;
      const std::vector<TestTensor> mine = tensors(*builtin, type);
      all.insert(all.end(), mine.begin(), mine.end());
      kernels.push_back(fmt::format("#kernel #parallel block [x:{}] (\n{}) {}", kCount,
                                    views(mine, 'R', "x"), body(*builtin, type, "R")));
      kernels.push_back(
          fmt::format("#kernel block [x:{}] (\n{}) {{\n0: #vector block [l:16, x:1 = x] (\n{} - l "
                      "- 16*x >= 0\n{}) {}\n}}",
                      (kCount + 15) / 16, views(mine, 'S', "16*x"), kCount - 1,
                      views(mine, 'S', "l"), body(*builtin, type, "S")));
      // The interpreter rounds once to 16 bits; a result that may be off in fp32 can round to the
      // neighbour.
      const double bound = ulp_bound(*builtin, type);
      ulps = std::max(ulps, bound > 0 && byte_size(type) == 2 ? 1 : bound);
      ++types;
    }
    if (kernels.empty()) continue;
    SCOPED_TRACE(builtin->name);
    EXPECT_EQ(difference(program_text(all, kernels), ulps, 0, {}, 1000 + types), "");
  }
  EXPECT_GT(types, 300u / static_cast<unsigned>(kOneOf));
}

// All lanes by one number, for which code generators may multiply by its reciprocal: results stay
// within the bound of a division, wherever that number lies.
TEST(Builtins, LanesDividedByOneNumber) {
  const std::vector<double> numbers = {0.0,
                                       -0.0,
                                       1,
                                       -3,
                                       7e-39,
                                       0x1p-149,
                                       -0x1p-126,
                                       0x1p-125,
                                       0x1.fp-126,
                                       0x1p126,
                                       0x1.8p127,
                                       -0x1.fffffep127,
                                       0x1.fffffep125,
                                       1e-30,
                                       3e30,
                                       std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN()};
  const auto count = static_cast<int64_t>(numbers.size());
  const TestTensor lanes{"A", DataType::fp32, {32}}, one{"B", DataType::fp32, {count}},
      out{"R", DataType::fp32, {count, 32}, "out"};
  const std::string text = fmt::format(
      "#kernel block [y:{}, x:2] (\nin {}\nin {}\nout {}\n) {{\n0: #vector block [l:16] (\nin "
      "{}\nin {}\nout {}\n) "
      "{{\n0: $a = load(A)\n1: $b = load(B)\n2: $r = div.fp32($a, $b)\n3: R = store($r)\n}}\n}}",
      count, element_view(lanes, "16*x"), element_view(one, "y"), element_view(out, "y, 16*x"),
      element_view(lanes, "l"), element_view(one, "0"), element_view(out, "0, l"));
  Values given;
  for (double number : numbers) given["B"].push_back(Scalar::of_float(DataType::fp32, number));
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    // The numbers themselves divided by each other, and others.
    uint64_t state = seed;
    given["A"].clear();
    for (double number : numbers) given["A"].push_back(Scalar::of_float(DataType::fp32, number));
    while (given["A"].size() < 32) given["A"].push_back(sample(DataType::fp32, state));
    EXPECT_EQ(difference(program_text({lanes, one, out}, {text}),
                         ulp_bound(*find_builtin("div"), DataType::fp32), 0, given, seed),
              "");
  }
}

}  // namespace
}  // namespace stria::kernels
