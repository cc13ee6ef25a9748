// SPDX-License-Identifier: Apache-2.0
#include "numbers/special_value_cases.h"

#include "numbers/elementwise.h"
#include "numbers/form.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kNaN =
    "**M9. NaN propagates** through `max`, `min` and the aggregations `>` and `<`. Comparisons "
    "with "
    "NaN are false, except `!=`.";

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
    const Level level = number == 0 && type == DataType::fp32 ? Level::right : Level::robust;
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

// Each row holds one special value among usual ones, at another place in each row.
void add_aggregations(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  const Form form{
      "", fmt::format("S {0} special; A {0},{0} plain; H {0}; B {0},3 plain", count),
      "S[N], A[N, M], H[N], B[N, L] -> Top, Low, Sum, Product, TopOfProducts, LowColumn",
      "  I = index(A, 0);\n"
      "  J = index(A, 1);\n"
      "  D[i, 0 : N, 1] = =(S[i]);\n"
      "  X = I == J ? D : A;\n"
      "  Top[i : N] = >(X[i, j]);\n"
      "  Low[i : N] = <(X[i, j]);\n"
      "  Sum[i : N] = +(X[i, j]);\n"
      "  Product[i : N] = *(X[i, j]), j < 3;\n"
      "  TopOfProducts[i, k : N, L] = >(X[i, j] * B[j, k]);\n"
      "  LowColumn[j : M] = <(X[i, j]);\n"};
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
}

}  // namespace

void add_special_value_cases(CaseMaker& maker) {
  for (const DataType type : kFloats) {
    add_functions(maker, type);
    add_aggregations(maker, type);
  }
}

}  // namespace stria::conformance
