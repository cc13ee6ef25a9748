// SPDX-License-Identifier: Apache-2.0
#include "numbers/aggregation_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

struct Named {
  const char* name;
  const char* text;
};
constexpr Named kAggregations[] = {
    {"sum", "+"}, {"product", "*"}, {"maximum", ">"}, {"minimum", "<"}, {"assign", "="}};
constexpr Named kCombinations[] = {{"nothing", "X[i, k]"},
                                   {"sums", "X[i, k] + Y[k, j]"},
                                   {"products", "X[i, k] * Y[k, j]"},
                                   {"equals", "X[i, k] == Y[k, j]"},
                                   {"choices", "X[i, k] == Y[k, j] ? Z[i, j]"}};

struct Size {
  const char* name;
  int64_t rows, columns, depth;
};
// Below a vector, and beyond some of them; products of more factors would overflow.
constexpr Size kSizes[] = {{"small", 4, 5, 6}, {"odd", 19, 33, 9}};

// The outputs of one combination: one for each aggregation.
TestProgram program_for(const Named& combination, DataType type, const Size& size) {
  // Aggregations of products and of what is equal need values that say something.
  const char* values = std::string_view(combination.name) == "equals" ||
                               std::string_view(combination.name) == "choices"
                           ? "few"
                           : "near_one";
  Form form;
  form.inputs = fmt::format("X {0},{2} {3}; Y {2},{1} {3}; Z {0},{1} near_one", size.rows,
                            size.columns, size.depth, values);
  form.head = "X[M, K], Y[K, N], Z[M, N] -> ";
  for (const Named& aggregation : kAggregations) {
    // An assignment has one value for each element: the first of those that are summed up.
    const bool assigns = aggregation.text[0] == '=';
    const bool of_one = std::string_view(combination.name) == "nothing";
    form.head += fmt::format("{}R_{}", form.head.back() == ' ' ? "" : ", ", aggregation.name);
    form.body += fmt::format("  R_{}[i{} : M{}] = {}({}){};\n", aggregation.name,
                             of_one ? "" : ", j", of_one ? "" : ", N", aggregation.text,
                             combination.text, assigns ? ", k < 1" : "");
  }
  return program_of(form, type);
}

}  // namespace

void add_aggregation_cases(CaseMaker& maker) {
  for (const Size& size : kSizes)
    for (const Named& combination : kCombinations)
      for (const DataType type : all_types()) {
        const std::string_view of = combination.name;
        const bool is_main = type == DataType::i32 || type == DataType::fp32;
        const bool is_small = type == DataType::i8 || type == DataType::fp16;
        const bool of_level_2 =
            size.rows == 19 &&
            ((is_main && (of == "nothing" || of == "products")) || (is_small && of == "products"));
        std::vector<ProgramCase> cases;
        for (const Named& aggregation : kAggregations)
          cases.push_back({fmt::format("aggregate.{}_of_{}.{}.{}", aggregation.name, of,
                                       stria::name_of(type), size.name),
                           fmt::format("R_{}", aggregation.name)});
        add_program_cases(
            maker, {kAggregation}, of_level_2 ? Level::right : Level::robust,
            fmt::format("aggregate.{}.{}.{}", of, stria::name_of(type), size.name), cases,
            [&combination, type, &size] { return program_for(combination, type, size); });
      }
}

}  // namespace stria::conformance
