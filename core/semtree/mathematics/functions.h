// SPDX-License-Identifier: Apache-2.0
// The functions of this folder, each of one value or two in the operand's format. mathematics.cc
// lists them by their builtins' names. Private to this folder.
#pragma once

#include "stria/semtree/mathematics/function_builder.h"

namespace stria::semtree::mathematics {

Value exp_of(const Value& x);
Value log_of(const Value& x);
Value sin_of(const Value& x);
Value cos_of(const Value& x);
Value tan_of(const Value& x);
Value asin_of(const Value& x);
Value acos_of(const Value& x);
Value atan_of(const Value& x);
Value sinh_of(const Value& x);
Value cosh_of(const Value& x);
Value tanh_of(const Value& x);
Value asinh_of(const Value& x);
Value acosh_of(const Value& x);
Value atanh_of(const Value& x);
Value pow_of(const Value& x, const Value& y);
// x - n y for the whole number n toward 0 of x / y, exactly: C's fmod.
Value mod_of(const Value& x, const Value& y);
// Without the device's own operation; rounded right.
Value sqrt_of(const Value& x);
Value div_of(const Value& x, const Value& y);

}  // namespace stria::semtree::mathematics
