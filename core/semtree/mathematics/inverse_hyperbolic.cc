// SPDX-License-Identifier: Apache-2.0
// Inverse hyperbolic sine, cosine and tangent: logarithms of what is computed in two words.
#include "stria/semtree/mathematics/double_word.h"
#include "stria/semtree/mathematics/functions.h"
#include "stria/semtree/mathematics/log.h"

namespace stria::semtree::mathematics {
namespace {

// (asinh x - x) / x^3 in z = x^2, for |x| <= 1/8: of asinh x they lose 2^-27.2 and 2^-60.5.
constexpr double kArcSinh32[] = {-0x1.5552eap-3, 0x1.2f4506p-4};
constexpr double kArcSinh64[] = {-0x1.555555555551cp-3, 0x1.333333331005ap-4,
                                 -0x1.6db6dafb9c347p-5, 0x1.f1c67224fadacp-6,
                                 -0x1.6e4b4598a1f0cp-6, 0x1.10497c4d24e92p-6};
// (atanh x - x) / x^3 in z = x^2, for |x| <= 1/4: 2^-31.4 and 2^-56.4.
constexpr double kArcTanh32[] = {0x1.55554ep-2, 0x1.99a29cp-3, 0x1.22e54p-3, 0x1.028cf2p-3};
constexpr double kArcTanh64[] = {0x1.5555555555461p-2, 0x1.99999999d70cp-3,  0x1.249248fa467bbp-3,
                                 0x1.c71c8de3c216fp-4, 0x1.7457efd6abd43p-4, 0x1.3b9ff875a13ap-4,
                                 0x1.087ffde124d17p-4, 0x1.372faf7ed76c2p-4};

// ln(x + root of (x^2 + one)); of large x, ln(2 x). `one` is 1 or -1.
Value logarithm_with_root(const Value& x, double one) {
  FunctionBuilder& b = *x.builder;
  const Value is_large = b.pick(0x1p13, 0x1p28) <= x;
  const Value moderate = select(is_large, 2, x);
  const DoubleWord square = product_of(moderate, moderate);
  const DoubleWord sum = sum_of(square.high, b.real(one));
  const DoubleWord under = quick_sum_of(sum.high, sum.low + square.low);
  const DoubleWord root = root_of({select(under.high < 0, 0, under.high), under.low});
  const DoubleWord total = sum_of(moderate, root.high);
  const DoubleWord both = quick_sum_of(total.high, total.low + root.low);
  // Large numbers are far below the type's largest when they divide.
  const Value exponent = select(is_large, b.real(65), b.real(0));
  return logarithm({select(is_large, x * 0x1p-64, both.high), select(is_large, 0, both.low)},
                   &exponent);
}

}  // namespace

Value asinh_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  const Value small = odd_polynomial(size, b.pick(kArcSinh32, kArcSinh64));
  const Value result = select(size < 0.125, small, logarithm_with_root(size, 1));
  return with_sign_of(select(is_finite(size), result, size), x);
}

Value acosh_of(const Value& x) {
  const Value result = select(is_finite(x), logarithm_with_root(x, -1), x);
  return select(1 <= x, result, x.builder->nan());
}

Value atanh_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  const Value one = b.real(1);
  const Value small = odd_polynomial(size, b.pick(kArcTanh32, kArcTanh64));
  // Half the logarithm of (1 + x) / (1 - x).
  const Value inside = select(size < 1, size, 0);
  const DoubleWord ratio = quotient_of(quick_sum_of(one, inside), quick_sum_of(one, -inside));
  const Value large = logarithm(quick_sum_of(ratio.high, ratio.low), nullptr) * 0.5;
  const Value result = select(size < 0.25, small, large);
  const Value edge = select(size == 1, kInfinity, b.nan());
  return with_sign_of(select(size < 1, result, edge), x);
}

}  // namespace stria::semtree::mathematics
