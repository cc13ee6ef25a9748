// SPDX-License-Identifier: Apache-2.0
// Index forms with fractions, numerator / divisor over index variables, with every overflow caught.
#pragma once

#include <cstdint>

#include "stria/base/status.h"
#include "stria/poly/affine.h"

namespace stria::tile {

// numerator / divisor with divisor >= 1 and no common factor of all coefficients, the constant and
// the divisor. Plain value.
struct Form {
  Affine numerator;
  int64_t divisor = 1;
  bool of_indices =
      false;  // written with an index, also where that cancels out; operations lose it
  bool is_constant() const { return numerator.is_constant(); }
};

// All fail with out_of_range if a number does not fit in int64.
Result<Form> add_forms(const Form& a, const Form& b);
Result<Form> subtract_forms(const Form& a, const Form& b);
Result<Form> scale_form(const Form& a, int64_t factor);
// divisor != 0.
Result<Form> divide_form(const Form& a, int64_t divisor);

// bound - 1 - form, times the divisor: >= 0 exactly where the form is below the integer `bound`.
Result<Affine> below(const Form& form, int64_t bound);

// "2*i + j", "(1 + i)/2".
std::string to_string(const Form& form);

}  // namespace stria::tile
