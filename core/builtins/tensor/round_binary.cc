// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

// What fp32 numbers can be scaled by without an error.
constexpr int64_t kMostPlaces = 10, kMostExponent = 30;

SpecialResult rounded(const SpecialCall& call) {
  const TensorType& x = call.tensors[0];
  const int64_t places = call.numbers[0], lowest = call.numbers[1], highest = call.numbers[2];
  if (places < 0 || places > kMostPlaces)
    return wrong(1, "{} binary places: 0 to {} are possible", places, kMostPlaces);
  for (const int argument : {2, 3})
    if (const int64_t exponent = call.numbers[static_cast<size_t>(argument) - 1];
        exponent < -kMostExponent || exponent > kMostExponent)
      return wrong(argument, "exponent {}: -{} to {} are possible", exponent, kMostExponent,
                   kMostExponent);
  if (lowest > highest)
    return wrong(3, "the highest exponent {} is below the lowest one, {}", highest, lowest);
  return {{x.type == DataType::fp64 ? DataType::fp64 : DataType::fp32, x.sizes}, "", -1};
}

}  // namespace

extern const Special round_binary;
constinit const Special round_binary = {
    .name = "round_binary",
    .call = "round_binary(X, places, lowest, highest)",
    .tensors = 1,
    .least_numbers = 3,
    .most_numbers = 3,
    .result = rounded,
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .rule = "M8",
    .doc =
        "The nearest number, ties to even, of a float format with so many binary places behind "
        "the leading digit and with exponents from lowest to highest; smaller numbers have the "
        "places of the lowest exponent, larger ones become infinity. In fp32, of fp64 in fp64.",
    .example = "R = round_binary(X, 3, -6, 8);",
};

}  // namespace stria::builtins
