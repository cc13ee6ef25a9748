// SPDX-License-Identifier: Apache-2.0
#include "numbers/integer_edge_cases.h"

#include <set>

#include "numbers/elementwise.h"
#include "numbers/form.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWrap = "**M7. Integers wrap** modulo 2^width.";

// What M7 says of a function.
std::string_view sentence_for(std::string_view function) {
  if (function == "div" || function == "mod")
    return "Division truncates toward zero. x/0 = 0 and x%0 = 0; MIN/-1 = MIN and MIN%-1 = 0.";
  if (function == "bit_left") return "Shift counts are taken modulo the width.";
  if (function == "bit_right") return "The right shift of a signed integer keeps the sign.";
  // Those that give no number but one that they are given have nothing to wrap.
  const bool chooses = function.substr(0, 4) == "cmp_" || function == "max" || function == "min" ||
                       function == "ident";
  return chooses ? kEqual : kWrap;
}

const std::vector<std::string>& first_functions() {
  static const std::vector<std::string> names = {"add",      "mul",       "div",    "mod",
                                                 "bit_left", "bit_right", "cmp_lt", "max"};
  return names;
}

const std::set<DataType>& main_types() {
  static const std::set<DataType> types = {DataType::i8, DataType::i32, DataType::u32,
                                           DataType::i64};
  return types;
}

void add_functions(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  const CallInputs inputs{{count, 1}, {1, count}, {count, count}, Values::edge, false};
  size_t number = 0;
  std::vector<const Builtin*> functions;
  for (const Builtin* builtin : functions_of(type))
    // Those of real numbers have no edges of integers.
    if (builtin->types != TypeRule::floating) functions.push_back(builtin);
  for (const auto& row : rows_of(functions, first_functions(), 12)) {
    const Level level = number == 0 && main_types().count(type) ? Level::right : Level::robust;
    const std::string key = fmt::format("edge.{}.{}", stria::name_of(type), number++);
    for (const Builtin* builtin : row)
      add_program_cases(
          maker, {sentence_for(builtin->name)}, level, key,
          {{fmt::format("edge.{}.{}", builtin->name, stria::name_of(type)), output_of(*builtin)}},
          [row, type, inputs] { return program_of_calls(row, type, inputs); });
  }
}

// Sums and products that wrap, and extremes of extremes. A column of C holds one edge and nothing
// else: what an aggregation starts from would show, and what holds too few bits of a sum.
void add_aggregations(CaseMaker& maker, DataType type) {
  const auto count = static_cast<int64_t>(special_values(type).size());
  const Form form{"",
                  fmt::format("A 7,{0} edge; B {0},5 edge; W 9,101 wide; C 300,{0} edge", count),
                  "A[N, K], B[K, M], W[P, Q], C[L, K] -> Sum, Product, Top, Low, SumOfProducts, "
                  "TopOfSums, TopOfOne, LowOfOne, SumOfOne, SumOfSquares",
                  "  Sum[p : P] = +(W[p, q]);\n"
                  "  Product[n : N] = *(A[n, k]), k < 5;\n"
                  "  Top[p : P] = >(W[p, q]);\n"
                  "  Low[q : Q] = <(W[p, q]);\n"
                  "  SumOfProducts[n, m : N, M] = +(A[n, k] * B[k, m]);\n"
                  "  TopOfSums[n, m : N, M] = >(A[n, k] + B[k, m]);\n"
                  "  TopOfOne[k : K] = >(C[l, k]);\n"
                  "  LowOfOne[k : K] = <(C[l, k]);\n"
                  "  SumOfOne[k : K] = +(C[l, k]);\n"
                  "  SumOfSquares[k : K] = +(C[l, k] * C[l, k]);\n"};
  const std::string key = fmt::format("edge.aggregations.{}", stria::name_of(type));
  const std::string suffix = fmt::format(".{}", stria::name_of(type));
  const Level level = main_types().count(type) ? Level::right : Level::robust;
  const auto make = [form, type] { return program_of(form, type); };
  add_program_cases(maker, {kAggregation}, level, key,
                    {{"edge.row_sum" + suffix, "Sum"},
                     {"edge.row_product" + suffix, "Product"},
                     {"edge.row_maximum" + suffix, "Top"},
                     {"edge.column_minimum" + suffix, "Low"},
                     {"edge.sum_of_one_value" + suffix, "SumOfOne"},
                     {"edge.sum_of_squares" + suffix, "SumOfSquares"},
                     {"edge.sum_of_products" + suffix, "SumOfProducts"},
                     {"edge.maximum_of_sums" + suffix, "TopOfSums"}},
                    make);
  add_program_cases(maker, {kIdentity}, level, key,
                    {{"edge.maximum_of_one_value" + suffix, "TopOfOne"},
                     {"edge.minimum_of_one_value" + suffix, "LowOfOne"}},
                    make);
}

}  // namespace

void add_integer_edge_cases(CaseMaker& maker) {
  for (const DataType type : all_types()) {
    if (is_float(type)) continue;
    add_functions(maker, type);
    if (type != DataType::boolean) add_aggregations(maker, type);
  }
}

}  // namespace stria::conformance
