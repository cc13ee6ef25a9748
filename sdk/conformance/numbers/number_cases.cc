// SPDX-License-Identifier: Apache-2.0
#include "numbers/number_cases.h"

#include <algorithm>

#include "numbers/aggregation_cases.h"
#include "numbers/constant_cases.h"
#include "numbers/constraint_cases.h"
#include "numbers/conversion_cases.h"
#include "numbers/gather_cases.h"
#include "numbers/generated_cases.h"
#include "numbers/integer_edge_cases.h"
#include "numbers/intrinsic_cases.h"
#include "numbers/large_cases.h"
#include "numbers/layout_cases.h"
#include "numbers/product_cases.h"
#include "numbers/relation_cases.h"
#include "numbers/run_cases.h"
#include "numbers/special_value_cases.h"

namespace stria::conformance {

void add_number_cases(CaseMaker& maker) {
  const auto first = static_cast<std::ptrdiff_t>(maker.out.size());
  add_run_cases(maker);
  add_intrinsic_cases(maker);
  add_special_value_cases(maker);
  add_integer_edge_cases(maker);
  add_conversion_cases(maker);
  add_aggregation_cases(maker);
  add_layout_cases(maker);
  add_constraint_cases(maker);
  add_gather_cases(maker);
  add_product_cases(maker);
  add_constant_cases(maker);
  add_relation_cases(maker);
  add_generated_cases(maker);
  add_large_cases(maker);
  // What is wrong in general shows in the smaller sample first.
  std::stable_sort(maker.out.begin() + first, maker.out.end(),
                   [](const Case& a, const Case& b) { return a.level < b.level; });
}

}  // namespace stria::conformance
