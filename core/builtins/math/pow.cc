// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

uint64_t power_unsigned(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
int64_t power(int64_t base, int64_t exponent) {
  if (exponent >= 0 || base == 1 || base == -1)  // (-1)^n depends on the last bit of n only
    return static_cast<int64_t>(
        power_unsigned(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
  return 0;
}
// The library's 1^y and x^0 are NaN for signalling NaN, and a NaN is a NaN here.
double raise(double base, double exponent) {
  return base == 1 || exponent == 0 ? 1 : std::pow(base, exponent);
}

}  // namespace

extern const Builtin pow;
constinit const Builtin pow = {
    .name = "pow",
    .spelling = nullptr,
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference = reference::signed_binary<[](double a, double b) { return raise(a, b); }, power,
                                          power_unsigned>,
    .ulp = {16, 16},
    .gradient = at_edges(
        derivative("cond(Y == 0, 0, DR * Y * pow(X, Y - 1))",
                   "cond(X == 0, 0, DR * R * log(cond(X == 0, 1, X)))"),
        "to Y 0 at X = 0, NaN below; to X infinite at X = 0 for Y < 1 where something flows back"),
    .doc =
        "First operand to the power of the second. Integers multiply with wrapping; a "
        "negative exponent gives 1 / x^n truncated: 1 for x = 1, 1 or -1 for x = -1, else 0.",
    .example = "R = pow(A, 2);",
    .cost = Cost::slow,
    .right_unit = Unit::one,
};

}  // namespace stria::builtins
