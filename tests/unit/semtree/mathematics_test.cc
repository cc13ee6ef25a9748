// SPDX-License-Identifier: Apache-2.0
// Functions of mathematics in operations of the kernel tree, on the operands of tests/precision and
// against its exact functions, held to the bounds of the builtins: whether fma rounds once or
// twice, products and sums are contracted or not, division and roots are exact or as wrong as they
// may be; and subnormal numbers are kept, or taken for zero by all operations or by comparisons
// alone, in the way of rule M23. STRIA_PRECISION_SAMPLES=N tries N operands of each function in
// place of some thousand, and prints a table.
#include "stria/semtree/mathematics/mathematics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "evaluate.h"
#include "exact_function.h"
#include "flushed_result.h"
#include "math_evaluator.h"
#include "operands.h"
#include "stria/base/result.h"
#include "stria/builtins/builtin.h"
#include "stria/semtree/tree/arithmetic.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

using precision::Exact;

constexpr Arithmetic kWays[] = {
    {.name = "twice"},
    {.name = "fused", .fused = true},
    {.name = "contracted", .contracted = true},
    {.name = "inexact", .inexact = true},
    {.name = "contracted, inexact", .contracted = true, .inexact = true},
    {.name = "flushed", .flushes = Arithmetic::Flushes::all},
    {.name = "flushed, contracted, inexact",
     .contracted = true,
     .inexact = true,
     .flushes = Arithmetic::Flushes::all},
    {.name = "flushed comparisons", .flushes = Arithmetic::Flushes::comparisons},
    {.name = "flushed comparisons, contracted, inexact",
     .contracted = true,
     .inexact = true,
     .flushes = Arithmetic::Flushes::comparisons},
};

const char* const kFunctions[] = {"exp",   "log",   "sin",  "cos",  "tan",  "asin",
                                  "acos",  "atan",  "sinh", "cosh", "tanh", "asinh",
                                  "acosh", "atanh", "pow",  "mod",  "sqrt", "div"};

uint64_t samples() {
  const char* text = std::getenv("STRIA_PRECISION_SAMPLES");
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

// The worst results of one function in one way.
struct Worst {
  double ulps = 0;
  uint64_t beyond = 0;
  std::string at, got, exact;
  uint64_t wrong_zeros = 0;
  std::string zero_at;
};

std::string shown(const std::vector<std::string>& operands, DataType type, int64_t i) {
  std::string out;
  for (const std::string& operand : operands)
    out += (out.empty() ? "" : ", ") + precision::shown(precision::load(type, operand.data(), i));
  return out;
}

class Mathematics : public testing::TestWithParam<std::pair<const char*, DataType>> {};

TEST_P(Mathematics, HoldsTheBoundOfTheBuiltin) {
  const auto [name, type] = GetParam();
  const MathFunction* function = math_function(name, type);
  ASSERT_NE(function, nullptr);
  const Builtin& builtin = *find_builtin(name);
  const double bound = ulp_bound(builtin, type);
  const precision::ExactFunction exact_function = precision::exact_function(name);
  const auto arity = static_cast<size_t>(builtin.arity);
  const precision::FlushedCall call{exact_function, std::vector<DataType>(arity, type), type,
                                    bound};
  FlushedTypes flushed;
  flushed.add(DataType::fp32);
  ASSERT_EQ(function->params.size(), arity);
  std::vector<MathEvaluator> evaluators;
  for (const Arithmetic& way : kWays) evaluators.emplace_back(*function, way);
  std::vector<Worst> worst(evaluators.size());
  precision::Operands drawn(std::vector<DataType>(arity, type));
  const uint64_t count = std::max<uint64_t>(samples(), drawn.listed() + 60000);
  std::string result(MathEvaluator::kBatch * 8, '\0');
  constexpr auto kBatch = static_cast<int64_t>(MathEvaluator::kBatch);
  for (uint64_t done = 0; done < count; done += MathEvaluator::kBatch) {
    const std::vector<std::string> operands = drawn.next(kBatch);
    std::array<Exact, MathEvaluator::kBatch> exact;
    std::array<long double, MathEvaluator::kBatch> near, units;
    for (int64_t i = 0; i < kBatch; ++i) {
      Exact x[2] = {};
      for (size_t k = 0; k < arity; ++k) x[k] = precision::load(type, operands[k].data(), i);
      const auto at = static_cast<size_t>(i);
      exact[at] = exact_function(x);
      near[at] = static_cast<long double>(exact[at]);
      units[at] = precision::units(type, exact[at]);
    }
    for (size_t way = 0; way < evaluators.size(); ++way) {
      evaluators[way].run(operands, 0, MathEvaluator::kBatch, result.data());
      Worst& seen = worst[way];
      for (int64_t i = 0; i < kBatch; ++i) {
        const auto at = static_cast<size_t>(i);
        const long double got = precision::load(type, result.data(), i);
        // The sign that a flushed number would have had is not held.
        const bool keeps = kWays[way].flushes == Arithmetic::Flushes::nothing || near[at] == 0;
        if (keeps && got == 0 && std::signbit(got) != std::signbit(near[at])) {
          ++seen.wrong_zeros;
          seen.zero_at = shown(operands, type, i);
        }
        // Most results are seen to be neither the worst nor beyond without the slow arithmetic.
        if (std::fabs(got - near[at]) * units[at] < std::min(seen.ulps, bound) - 0x1p-10L) continue;
        const double apart = precision::ulps_apart(type, got, exact[at]);
        if (apart > bound && kWays[way].flushes != Arithmetic::Flushes::nothing) {
          Exact x[2] = {};
          for (size_t k = 0; k < arity; ++k) x[k] = precision::load(type, operands[k].data(), i);
          if (precision::is_right_if_flushed(call, flushed, x, got)) continue;
        }
        if (apart > bound) ++seen.beyond;
        if (apart <= seen.ulps) continue;
        seen.ulps = apart;
        seen.at = shown(operands, type, i);
        seen.got = precision::shown(got);
        seen.exact = precision::shown(exact[at]);
      }
    }
  }
  for (size_t way = 0; way < evaluators.size(); ++way) {
    const Worst& seen = worst[way];
    if (samples() > 0)
      std::printf("%-10s %-20s %10llu %8.4f %6.1f  %s\n", function->name.c_str(), kWays[way].name,
                  static_cast<unsigned long long>(count), seen.ulps, bound, seen.at.c_str());
    EXPECT_EQ(seen.beyond, 0u) << function->name << ", " << kWays[way].name << ": the worst "
                               << seen.ulps << " ULP of " << bound << " at " << seen.at << ": got "
                               << seen.got << ", not " << seen.exact;
    EXPECT_EQ(seen.wrong_zeros, 0u)
        << function->name << ", " << kWays[way].name << ": the sign of 0 at " << seen.zero_at;
  }
}

std::vector<std::pair<const char*, DataType>> all_functions() {
  std::vector<std::pair<const char*, DataType>> out;
  for (const char* name : kFunctions)
    for (DataType type : {DataType::fp32, DataType::fp64}) out.emplace_back(name, type);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Functions, Mathematics, testing::ValuesIn(all_functions()),
                         [](const auto& info) {
                           return fmt::format("{}_{}", info.param.first,
                                              name_of(info.param.second));
                         });

// Runs statements by the evaluator of tests/lanes, which asks for what the tree promises.
Status run(const Body& body, lanes::Evaluator& evaluator, std::vector<lanes::Value>& values) {
  for (const Statement& statement : body) {
    if (const auto* let = std::get_if<Let>(&statement.op)) {
      STRIA_RETURN_IF_ERROR(
          evaluator.evaluate(*let->value, values.data(), &values[evaluator.position(let->var)]));
      continue;
    }
    const auto& branch = std::get<If>(statement.op);
    lanes::Value condition;
    STRIA_RETURN_IF_ERROR(evaluator.evaluate(*branch.condition, values.data(), &condition));
    if (condition.scalar.truth()) STRIA_RETURN_IF_ERROR(run(branch.then, evaluator, values));
  }
  return {};
}

TEST_P(Mathematics, IsTheSameByTheReferenceFunctions) {
  const auto [name, type] = GetParam();
  const MathFunction& math = *math_function(name, type);
  const Builtin& builtin = *find_builtin(name);
  semtree::Function function;
  function.vars = math.vars;
  lanes::Evaluator evaluator(function);
  precision::Operands drawn(std::vector<DataType>(math.params.size(), type));
  constexpr int64_t kCount = 400;
  const std::vector<std::string> operands = drawn.next(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    std::vector<lanes::Value> values(evaluator.variable_values());
    Exact x[2] = {};
    for (size_t k = 0; k < math.params.size(); ++k) {
      values[evaluator.position(math.params[k])] = {load_scalar(type, operands[k].data(), i),
                                                    false};
      x[k] = precision::load(type, operands[k].data(), i);
    }
    const Status status = run(math.body, evaluator, values);
    ASSERT_TRUE(status.ok()) << math.name << ": " << status.message();
    lanes::Value result;
    ASSERT_TRUE(evaluator.evaluate(*math.result, values.data(), &result).ok());
    EXPECT_FALSE(result.poison) << math.name << " at " << shown(operands, type, i);
    EXPECT_LE(precision::ulps_apart(type, result.scalar.f, precision::exact_function(name)(x)),
              ulp_bound(builtin, type))
        << math.name << " at " << shown(operands, type, i);
  }
}

// Multiples of a quarter turn leave next to nothing, and no angle less than these two.
TEST(MathFunctions, AnglesNextToQuarterTurns) {
  for (DataType type : {DataType::fp32, DataType::fp64}) {
    const bool narrow = type == DataType::fp32;
    std::string angles(MathEvaluator::kBatch * 8, '\0'), result = angles;
    for (size_t i = 0; i < MathEvaluator::kBatch; ++i) {
      const long double quarters = std::floor(std::ldexp(1.0L, static_cast<int>(i) / 4) * 1.37L);
      const long double half_pi = 1.57079632679489661923L;
      const long double angle =
          i != 0   ? std::ldexp(std::rint(std::ldexp(quarters * half_pi, narrow ? 0 : 28)),
                              narrow ? 0 : -28)
          : narrow ? std::ldexp(16367173.0L, 72)
                   : std::ldexp(6381956970095103.0L, 797);
      precision::store_bits(type, angles.data(), static_cast<int64_t>(i),
                            precision::bits_of(type, angle));
    }
    for (const char* name : {"sin", "cos", "tan"})
      for (const Arithmetic& way : kWays) {
        MathEvaluator evaluator(*math_function(name, type), way);
        evaluator.run({angles}, 0, MathEvaluator::kBatch, result.data());
        for (int64_t i = 0; i < static_cast<int64_t>(MathEvaluator::kBatch); ++i) {
          const Exact angle = precision::load(type, angles.data(), i);
          EXPECT_LE(precision::ulps_apart(type, precision::load(type, result.data(), i),
                                          precision::exact_function(name)(&angle)),
                    ulp_bound(*find_builtin(name), type))
              << name << " of " << precision::shown(angle) << ", " << way.name;
        }
      }
  }
}

TEST(MathFunctions, EveryCallOfTheTreeHasOne) {
  for (const Builtin* builtin : all_builtins()) {
    if (!allows(*builtin, DataType::fp32)) continue;
    std::vector<ExprRef> operands;
    for (int i = 0; i < builtin->arity; ++i) operands.push_back(variable(i, {DataType::fp32, 1}));
    std::vector<ExprRef> made;
    const auto named = [&](ExprRef expr) {
      made.push_back(expr);
      return expr;
    };
    const Result<ExprRef> result = intrinsic(builtin->name, DataType::fp32, operands, named);
    if (!result.ok()) continue;  // a special, or no function of floats
    made.push_back(*result);
    for (const ExprRef& expr : made)
      if (expr->kind == ExprKind::call) {
        EXPECT_NE(math_function(expr->callee, DataType::fp32), nullptr) << expr->callee;
      }
  }
  EXPECT_EQ(math_function("sigmoid", DataType::fp32), nullptr);
  EXPECT_EQ(math_function("exp", DataType::fp16), nullptr);
  EXPECT_EQ(math_function("exp", DataType::fp64), math_function("exp", DataType::fp64));
}

void add_types(const ExprRef& expr, std::set<DataType>& to) {
  to.insert(expr->type.scalar);
  for (const ExprRef& arg : expr->args) add_types(arg, to);
}

TEST(MathFunctions, UseTypesOfTheirOwnWidthAlone) {
  for (const auto& [name, type] : all_functions()) {
    const MathFunction& function = *math_function(name, type);
    std::set<DataType> used;
    walk(function.body, [&](const Statement& statement) {
      if (const auto* let = std::get_if<Let>(&statement.op)) add_types(let->value, used);
      if (const auto* branch = std::get_if<If>(&statement.op)) add_types(branch->condition, used);
    });
    for (DataType one : used)
      EXPECT_TRUE(one == DataType::boolean || bit_width(one) == bit_width(type))
          << function.name << " uses " << name_of(one);
  }
}

}  // namespace
}  // namespace stria::semtree
