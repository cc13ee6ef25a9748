// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/value.h"

#include <cmath>

namespace stria::interp {

bool conversion_overflows(const Scalar& value, DataType to) {
  if (!is_float(value.type) || is_float(to) || to == DataType::boolean) return false;
  if (std::isnan(value.f)) return true;
  const int bits = bit_width(to) - (is_signed_integer(to) ? 1 : 0);
  const double limit = std::ldexp(1.0, bits);
  const double cut = std::trunc(value.f);
  return cut >= limit || cut < (is_signed_integer(to) ? -limit : 0.0);
}

}  // namespace stria::interp
