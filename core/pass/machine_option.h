// SPDX-License-Identifier: Apache-2.0
// Options of passes that stand for a number of the machine unless a pipeline gives one.
#pragma once

#include <bit>
#include <cstdint>

namespace stria::passes {

// `option`, or the calibration's number if that is not given: 0, or less for options that may be 0.
inline int64_t or_machines(int64_t option, double fact, int64_t not_given = 0) {
  return option != not_given ? option : static_cast<int64_t>(fact);
}

// The same of a power of two. The calibration's number is rounded up to one.
inline int64_t or_machines_power(int64_t option, double fact) {
  return option != 0
             ? option
             : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(fact < 1 ? 1 : fact)));
}

}  // namespace stria::passes
