// SPDX-License-Identifier: Apache-2.0
#include "numbers/special_value_cases.h"

#include <chrono>

#include "numbers/elementwise.h"
#include "numbers/form.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kNaN =
    "**M9. NaN propagates** through `max`, `min` and the aggregations `>` and `<`. Comparisons "
    "with "
    "NaN are false, except `!=`.";

constexpr std::string_view kFastMath = "Nothing else is relaxed unless `fast_math` is asked for";

constexpr DataType kFloats[] = {DataType::fp32, DataType::fp64, DataType::fp16, DataType::bf16};

const std::vector<std::string>& first_functions() {
  static const std::vector<std::string> names = {"add", "mul",    "div", "max",   "min",  "cmp_lt",
                                                 "abs", "cmp_ne", "neg", "floor", "sqrt", "relu"};
  return names;
}

// Each function on each value, or on each pair of values.
void add_functions(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  CallInputs inputs{{count, 1}, {1, count}, {count, count}, Values::special, false};
  size_t number = 0;
  for (const auto& row : rows_of(functions_of(type), first_functions(), 12)) {
    const Level level = type == DataType::fp32 ? Level::right : Level::robust;
    const std::string key = fmt::format("special.{}.{}", stria::name_of(type), number++);
    for (const Builtin* builtin : row) {
      const std::string_view name = builtin->name;
      const bool of_nan = name == "max" || name == "min" || name.substr(0, 4) == "cmp_";
      add_program_cases(
          maker, of_nan ? ProgramRule{kNaN} : rule_of(result_of(*builtin, type)), level, key,
          {{fmt::format("special.{}.{}", name, stria::name_of(type)), output_of(*builtin)}},
          [row, type, inputs] { return program_of_calls(row, type, inputs); });
    }
  }
}

// Each row of X holds one special value among usual ones, at another place in each row; each column
// of C holds one special value and nothing else.
void add_aggregations(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  const Form form{
      "", fmt::format("S {0} special; A {0},{0} plain; B {0},3 plain; C 3,{0} special", count),
      "S[N], A[N, M], B[N, L], C[K, N] -> Top, Low, Sum, Product, TopOfProducts, LowColumn, "
      "TopOfOne, LowOfOne, SumOfOne",
      "  I = index(A, 0);\n"
      "  J = index(A, 1);\n"
      "  D[i, 0 : N, 1] = =(S[i]);\n"
      "  X = I == J ? D : A;\n"
      "  Top[i : N] = >(X[i, j]);\n"
      "  Low[i : N] = <(X[i, j]);\n"
      "  Sum[i : N] = +(X[i, j]);\n"
      "  Product[i : N] = *(X[i, j]), j < 3;\n"
      "  TopOfProducts[i, k : N, L] = >(X[i, j] * B[j, k]);\n"
      "  LowColumn[j : M] = <(X[i, j]);\n"
      "  TopOfOne[j : N] = >(C[k, j]);\n"
      "  LowOfOne[j : N] = <(C[k, j]);\n"
      "  SumOfOne[j : N] = +(C[k, j]);\n"};
  const std::string key = fmt::format("special.aggregations.{}", stria::name_of(type));
  const auto make = [form, type] { return program_of(form, type); };
  const std::string suffix = fmt::format(".{}", stria::name_of(type));
  const Level level = type == DataType::fp32 ? Level::right : Level::robust;
  add_program_cases(maker, {kNaN}, level, key,
                    {{"special.row_maximum" + suffix, "Top"},
                     {"special.row_minimum" + suffix, "Low"},
                     {"special.column_minimum" + suffix, "LowColumn"},
                     {"special.maximum_of_products" + suffix, "TopOfProducts"}},
                    make);
  add_program_cases(
      maker, {kWithinBound}, level, key,
      {{"special.row_sum" + suffix, "Sum"}, {"special.row_product" + suffix, "Product"}}, make);
  add_program_cases(maker, {kIdentity}, level, key,
                    {{"special.maximum_of_one_value" + suffix, "TopOfOne"},
                     {"special.minimum_of_one_value" + suffix, "LowOfOne"},
                     {"special.sum_of_one_value" + suffix, "SumOfOne"}},
                    make);
}

// Builds that allow more leave nothing behind for those that do not.
void add_after_fast_math(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  // Of other sizes than the cases above: a plugin that keeps what it has built builds it anew.
  const CallInputs inputs{{1, count}, {count, 1}, {count, count}, Values::special, false};
  const auto row = rows_of(functions_of(type), first_functions(), 12).front();
  const auto run = [row, type, inputs](Subject& subject) -> Finding {
    TestProgram program = program_of_calls(row, type, inputs);
    program.name = "conform";
    // What it makes of NaN and infinities is its own affair.
    TestProgram relaxed = program;
    relaxed.fast_math = true;
    if (const ProgramRun first = run_program(subject, relaxed); !first.status.ok())
      return finding_of(first.status);
    const ProgramRun strict = run_program(subject, program);
    if (!strict.status.ok()) return finding_of(strict.status);
    for (const OutputRun& output : strict.outputs) STRIA_RETURN_IF_ERROR(output.status);
    return {};
  };
  Case& c = maker.add('K', fmt::format("special.after_fast_math.{}", stria::name_of(type)),
                      type == DataType::fp32 ? Level::right : Level::robust, kFastMath, run);
  c.source = "docs/semantics.md";
  c.limit = std::chrono::seconds(60);
}

}  // namespace

void add_special_value_cases(CaseMaker& maker) {
  for (const DataType type : kFloats) {
    add_functions(maker, type);
    add_aggregations(maker, type);
    add_after_fast_math(maker, type);
  }
}

}  // namespace stria::conformance
