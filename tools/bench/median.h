// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace stria::bench {

// The value below which `part` of the values are, from 0 to 1. `values` is not empty.
inline double quantile(std::vector<double> values, double part) {
  const auto at = static_cast<size_t>(part * static_cast<double>(values.size()));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::min(at, values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// The upper one of the two in the middle of an even number. `values` is not empty.
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace stria::bench
