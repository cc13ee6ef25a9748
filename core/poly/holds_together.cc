// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/holds_together.h"

#include <numeric>

namespace stria {

bool holds_together(const Affine& form, const std::string& index, int64_t range) {
  const int64_t own = form.coefficient(index);
  if (own == 0) return true;
  // The rest takes values that are `step` apart from one another.
  int64_t step = 0;
  for (const auto& [name, coefficient] : form.terms())
    if (name != index) step = std::gcd(step, coefficient);
  int64_t last = 0;
  if (step == 0 || __builtin_mul_overflow(own, range - 1, &last) ||
      __builtin_add_overflow(last, form.constant(), &last))
    return false;
  return floor_div(form.constant(), step) == floor_div(last, step);
}

}  // namespace stria
