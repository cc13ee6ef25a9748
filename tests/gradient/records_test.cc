// SPDX-License-Identifier: Apache-2.0
// The derivative of every record of core/builtins, as its text says, against central differences of
// the function itself, both computed in fp64 on a device. Points are every combination of a few
// numbers, zeros, ones and ties among them; where a function has no derivative (kinks, the border
// of its domain) nothing is asked. A function that says that it has none is piecewise constant, or
// its result or its operands are no real numbers.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "numeric_function.h"
#include "slope.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"

namespace stria::gradient_proof {
namespace {

const std::vector<double> kPoints = {-2.375, -1.4375, -1,     -0.625, -0.25, 0,    0.3125,
                                     0.75,   1,       1.3125, 2,      2.5,   3.125};
const char* const kOperands[] = {"X", "Y", "Z"};

// Operands of all combinations of kPoints.
std::vector<Numbers> grid(int arity) {
  size_t count = 1;
  for (int n = 0; n < arity; ++n) count *= kPoints.size();
  std::vector<Numbers> out;
  size_t step = 1;
  for (int n = 0; n < arity; ++n, step *= kPoints.size()) {
    Numbers operand{{DataType::fp64, {static_cast<int64_t>(count)}}, {}};
    for (size_t i = 0; i < count; ++i) operand.values.push_back(kPoints[i / step % kPoints.size()]);
    out.push_back(std::move(operand));
  }
  return out;
}

// What comes back with each element: not 1, so that a derivative that forgets it is wrong.
Numbers weights(const TensorType& type) {
  Numbers out{{DataType::fp64, type.sizes}, {}};
  for (int64_t i = 0; i < element_count(type); ++i)
    out.values.push_back(0.5 + 0.25 * static_cast<double>(i % 7));
  return out;
}

// Samples[n][i]: element i of the first output with kOffsets[n] added to all of operand `which`,
// which is right for elementwise functions.
std::vector<std::vector<double>> samples(const NumericFunction& f, const std::vector<Numbers>& at,
                                         size_t which) {
  std::vector<std::vector<double>> out;
  for (double offset : kOffsets) {
    std::vector<Numbers> moved = at;
    for (double& value : moved[which].values) value += offset;
    Result<std::vector<Numbers>> result = f(moved);
    EXPECT_TRUE(result.ok()) << result.status().message();
    out.push_back(result.ok() ? (*result)[0].values : std::vector<double>(at[0].values.size()));
  }
  return out;
}

Slope slope_of_element(const std::vector<std::vector<double>>& f, size_t i) {
  return slope_of({f[0][i], f[1][i], f[2][i], f[3][i], f[4][i]});
}

std::string names(int count, const char* dims) {
  std::vector<std::string> out;
  for (int n = 0; n < count; ++n) out.push_back(fmt::format("{}{}", kOperands[n], dims));
  return fmt::format("{}", fmt::join(out, ", "));
}

class Records : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<Device> device = open_device(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  Result<NumericFunction> compile(const std::string& text, const std::vector<TensorType>& inputs) {
    STRIA_ASSIGN(Program program, Program::from_tile({"derivative", text}));
    return NumericFunction::compile(device_, program, inputs);
  }
  Device device_;
};

// The call on X, Y, Z. Casts to floats take their width as a number.
std::string call_of(const Builtin& builtin) {
  if (builtin.types == TypeRule::cast && builtin.arity == 2)
    return fmt::format("{}(X, 64)", builtin.name);
  return fmt::format("{}({})", builtin.name, names(builtin.arity, ""));
}
int tensors_of(const Builtin& builtin) {
  return builtin.types == TypeRule::cast ? 1 : builtin.arity;
}

TEST_P(Records, DerivativesOfBuiltinsAreThoseOfTheirFunctions) {
  int derivatives = 0;
  for (const Builtin* builtin : all_builtins()) {
    const int arity = tensors_of(*builtin);
    if (builtin->gradient.why_not) continue;
    // Their results lie too far apart for a slope; their derivative is that of as_float.
    const std::string_view name = builtin->name;
    if (name == "as_bfloat" || name.starts_with("as_fp")) continue;
    const std::vector<Numbers> at = grid(arity);
    std::vector<TensorType> types;
    for (const Numbers& operand : at) types.push_back(operand.type);
    const Result<NumericFunction> f = compile(
        fmt::format("function ({}) -> (R) {{ R = {}; }}", names(arity, "[N]"), call_of(*builtin)),
        types);
    ASSERT_TRUE(f.ok()) << f.status().message();
    for (int which = 0; which < arity; ++which) {
      const char* text = builtin->gradient.of[static_cast<size_t>(which)];
      if (!text) text = "0 * DR";  // the operand gets none
      ++derivatives;
      std::vector<Numbers> with_gradient = at;
      with_gradient.push_back(weights(at[0].type));
      std::vector<TensorType> all = types;
      all.push_back(types[0]);
      const Result<NumericFunction> derivative =
          compile(fmt::format("function ({}, DR[N]) -> (D) {{ R = {}; D = {}; }}",
                              names(arity, "[N]"), call_of(*builtin), text),
                  all);
      ASSERT_TRUE(derivative.ok()) << derivative.status().message();
      Result<std::vector<Numbers>> got = (*derivative)(with_gradient);
      ASSERT_TRUE(got.ok()) << got.status().message();
      const auto f_at = samples(*f, at, static_cast<size_t>(which));
      int regular = 0, wrong = 0;
      for (size_t i = 0; i < at[0].values.size(); ++i) {
        const Slope slope = slope_of_element(f_at, i);
        if (!slope.regular) continue;
        ++regular;
        const double back = with_gradient.back().values[i];
        const double want = slope.value * back, have = (*got)[0].values[i];
        if (std::fabs(have - want) <= slope.tolerance * back) continue;
        std::vector<double> point;
        for (const Numbers& operand : at) point.push_back(operand.values[i]);
        if (++wrong <= 5) {
          ADD_FAILURE() << fmt::format("{} by {} at ({}): '{}' is {}, not {}", builtin->name,
                                       kOperands[which], fmt::join(point, ", "), text, have, want);
        }
      }
      EXPECT_GE(regular, 3) << builtin->name << " by " << kOperands[which];
    }
  }
  EXPECT_GE(derivatives, 35);
}

TEST_P(Records, BuiltinsWithoutDerivativeHaveNone) {
  int without = 0;
  for (const Builtin* builtin : all_builtins()) {
    if (!builtin->gradient.why_not) continue;
    ++without;
    if (!allows(*builtin, DataType::fp64)) continue;  // bits
    const std::vector<DataType> doubles(static_cast<size_t>(builtin->arity), DataType::fp64);
    if (builtin->types == TypeRule::cast) {
      EXPECT_FALSE(is_float(cast_type(*builtin, builtin->arity == 2 ? 32 : 0).value()))
          << builtin->name;
      continue;
    }
    Result<CallTypes> types = call_types(*builtin, doubles);
    ASSERT_TRUE(types.ok()) << types.status().message();
    const std::vector<Numbers> at = grid(builtin->arity);
    const Result<NumericFunction> f =
        compile(fmt::format("function ({}) -> (R) {{ R = {}; }}", names(builtin->arity, "[N]"),
                            call_of(*builtin)),
                std::vector<TensorType>(doubles.size(), at[0].type));
    ASSERT_TRUE(f.ok()) << f.status().message();
    for (size_t which = 0; which < doubles.size(); ++which) {
      const auto f_at = samples(*f, at, which);
      int regular = 0;
      for (size_t i = 0; i < at[0].values.size(); ++i) {
        const Slope slope = slope_of_element(f_at, i);
        if (!slope.regular) continue;
        ++regular;
        EXPECT_EQ(slope.value, 0) << builtin->name << " is not piecewise constant";
      }
      EXPECT_GE(regular, 3) << builtin->name;
    }
  }
  EXPECT_GE(without, 15);
}

// A special with a derivative, on operands of every kind: rows that are chosen once, several times
// and never, and integers that are no row.
struct SpecialCase {
  const char* name;
  std::vector<Numbers> operands;
  const char* numbers = "";  // behind the operands
};

std::vector<SpecialCase> special_cases() {
  auto reals = [](std::vector<int64_t> sizes) {
    Numbers out{{DataType::fp64, std::move(sizes)}, {}};
    for (int64_t i = 0; i < element_count(out.type); ++i)
      out.values.push_back(static_cast<double>((i * 37 + 11) % 64) / 16 - 2);
    return out;
  };
  const Numbers rows{{DataType::i32, {6}}, {2, 0, 2, 3, -2, 9}};
  const Numbers table{{DataType::i32, {2, 2}}, {1, 1, 7, 0}};
  return {{"gather", {reals({4, 3}), rows}},
          {"gather", {reals({4}), table}},
          {"scatter", {reals({6, 2}), rows, reals({4})}},
          {"scatter", {reals({2, 2}), table, reals({3})}},
          {"gather_or_zero", {reals({4, 3}), rows}},
          {"gather_or_zero", {reals({1, 2}), table}},
          {"reshape", {reals({2, 6})}, ", 3, 4"},
          {"reshape_like", {reals({2, 6}), reals({4, 3})}},
          {"sum_like", {reals({2, 3}), reals({2, 3})}},
          {"sum_like", {reals({2, 3, 4}), reals({3, 1})}},
          {"sum_like", {reals({2, 3}), reals({})}}};
}

// Of the sum of all results, each with its weight, by every element.
TEST_P(Records, DerivativesOfSpecialsAreThoseOfTheirFunctions) {
  std::vector<std::string> tried;
  for (const SpecialCase& c : special_cases()) {
    tried.push_back(c.name);
    const Special* special = find_special(c.name);
    ASSERT_NE(special, nullptr);
    const int arity = special->tensors;
    ASSERT_EQ(static_cast<size_t>(arity), c.operands.size());
    std::vector<TensorType> types;
    for (const Numbers& operand : c.operands) types.push_back(operand.type);
    const std::string call = fmt::format("{}({}{})", c.name, names(arity, ""), c.numbers);
    const Result<NumericFunction> f =
        compile(fmt::format("function ({}) -> (R) {{ R = {}; }}", names(arity, ""), call), types);
    ASSERT_TRUE(f.ok()) << f.status().message();
    const TensorType result{f->outputs()[0].type, f->outputs()[0].sizes};
    const Numbers back = weights(result);
    auto loss = [&](const std::vector<Numbers>& at) {
      Result<std::vector<Numbers>> got = (*f)(at);
      EXPECT_TRUE(got.ok()) << got.status().message();
      double sum = 0;
      for (size_t i = 0; got.ok() && i < back.values.size(); ++i)
        sum += (*got)[0].values[i] * back.values[i];
      return sum;
    };
    for (size_t which = 0; which < c.operands.size(); ++which) {
      if (!is_float(c.operands[which].type.type)) continue;
      const char* text = special->gradient.of[which];
      const std::string none = fmt::format("0 * {}", kOperands[which]);
      std::vector<Numbers> with_gradient = c.operands;
      with_gradient.push_back(back);
      std::vector<TensorType> all = types;
      all.push_back(back.type);
      const Result<NumericFunction> derivative =
          compile(fmt::format("function ({}, DR) -> (D) {{ R = {}; D = {}; }}", names(arity, ""),
                              call, text ? text : none),
                  all);
      ASSERT_TRUE(derivative.ok()) << derivative.status().message();
      Result<std::vector<Numbers>> got = (*derivative)(with_gradient);
      ASSERT_TRUE(got.ok()) << got.status().message();
      ASSERT_EQ((*got)[0].type, c.operands[which].type) << c.name;
      for (size_t i = 0; i < c.operands[which].values.size(); ++i) {
        Samples f_at;
        for (size_t n = 0; n < f_at.size(); ++n) {
          std::vector<Numbers> moved = c.operands;
          moved[which].values[i] += kOffsets[n];
          f_at[n] = loss(moved);
        }
        const Slope slope = slope_of(f_at);
        EXPECT_TRUE(slope.regular);
        EXPECT_NEAR((*got)[0].values[i], slope.value, slope.tolerance) << fmt::format(
            "{} by element {} of {}: '{}'", call, i, kOperands[which], text ? text : none);
      }
    }
  }
  for (const Special* special : all_specials())
    EXPECT_TRUE(special->gradient.why_not ||
                std::find(tried.begin(), tried.end(), special->name) != tried.end())
        << special->name << " has a derivative and no case here";
}

// The one function whose derivative is another one's on purpose.
TEST_P(Records, ReversedGradientIsTurnedRoundAndScaled) {
  const Composite* reversed = find_composite("reverse_grad");
  ASSERT_NE(reversed, nullptr);
  const Numbers at{{DataType::fp64, {3}}, {-1, 0, 2}}, back{{DataType::fp64, {3}}, {1, -2, 3}};
  const Result<NumericFunction> derivative = compile(
      fmt::format("function (X, DR) -> (D) {{ Y = 0.5; D = {}; }}", reversed->gradient.of[0]),
      {at.type, back.type});
  ASSERT_TRUE(derivative.ok()) << derivative.status().message();
  Result<std::vector<Numbers>> got = (*derivative)({at, back});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].values, (std::vector<double>{-0.5, 1, -1.5}));
  for (const Composite* composite : all_composites())
    for (const char* text : composite->gradient.of)
      EXPECT_TRUE(text == nullptr || composite == reversed)
          << composite->name << " has a derivative of its own and no case here";
}

INSTANTIATE_TEST_SUITE_P(Devices, Records, testing::Values("reference", "llvm_cpu", "sim"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::gradient_proof
