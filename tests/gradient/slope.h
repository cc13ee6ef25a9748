// SPDX-License-Identifier: Apache-2.0
// The derivative of a function of one number from five of its values, and whether there is one.
//
// Beside the central difference D over the step h and the one over h/2 it looks at
// S = f(x+h) - 2 f(x) + f(x-h), divided by h. Where f is smooth, D(h) - D(h/2) and S(h) - 2 S(h/2)
// vanish as h^2 and h^3. A kink or jump within h changes one of them by as much as it changes the
// result, wherever it lies: at x itself only the second shows it (both differences of |x| at 0 are
// 0), at x + h/3 only the first. So a point where both are small is regular, or what hides there is
// smaller than the tolerance.
#pragma once

#include <array>

namespace stria::gradient_proof {

struct Slope {
  bool regular = false;  // else nothing is said of the derivative
  double value = 0;
  double tolerance = 0;  // of a right derivative
};

// A power of 2: x - h and x + h are exact for numbers of few digits.
inline constexpr double kStep = 0x1p-13;

// f(x-h), f(x-h/2), f(x), f(x+h/2), f(x+h) for h = kStep. Not finite: not regular.
using Samples = std::array<double, 5>;
Slope slope_of(const Samples& f);

// Where those are taken, relative to x.
inline constexpr std::array<double, 5> kOffsets = {-kStep, -kStep / 2, 0, kStep / 2, kStep};

}  // namespace stria::gradient_proof
