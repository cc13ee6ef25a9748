// SPDX-License-Identifier: Apache-2.0
#include "slope.h"

#include <algorithm>
#include <cmath>

namespace stria::gradient_proof {

Slope slope_of(const Samples& f) {
  double largest = 0;
  for (double value : f) {
    if (!std::isfinite(value)) return {};
    largest = std::max(largest, std::fabs(value));
  }
  const double h = kStep;
  const double wide = (f[4] - f[0]) / (2 * h), narrow = (f[3] - f[1]) / h;
  const double wide_bend = (f[4] - 2 * f[2] + f[0]) / h;
  const double narrow_bend = (f[3] - 2 * f[2] + f[1]) / (h / 2);
  // What the rounding of values and of the functions themselves makes of a difference.
  const double rounding = 64 * 0x1p-53 * largest / h;
  const double unseen = 1e-6 * std::max(1.0, std::fabs(narrow)) + rounding;
  Slope slope;
  slope.regular =
      std::fabs(wide - narrow) < unseen && std::fabs(wide_bend - 2 * narrow_bend) < unseen;
  slope.value = (4 * narrow - wide) / 3;  // without the error of second order
  slope.tolerance = 4 * unseen;
  return slope;
}

}  // namespace stria::gradient_proof
