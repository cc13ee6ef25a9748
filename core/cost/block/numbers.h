// SPDX-License-Identifier: Apache-2.0
// Small conversions that every cost is full of.
#pragma once

#include <cstdint>

namespace stria::cost {

inline double as_double(int64_t value) { return static_cast<double>(value); }

inline int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

}  // namespace stria::cost
