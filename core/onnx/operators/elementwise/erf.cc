// SPDX-License-Identifier: Apache-2.0
// Erf, and Gelu in its forms. Tile has no error function: it is two polynomials here, that of x up
// to 1, and behind it that of exp(x * x) * (1 - erf(x)) in 2 / (2 + x). Both interpolate the exact
// functions at Chebyshev points; their errors are below 2e-9 for fp32 and 2e-18 for fp64.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "stria/onnx/operators/activation.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Coefficients from the constant on; `top` is where erf becomes 1 in the type.
constexpr double kInner32[] = {1.1283791658483509,    -0.37612626666720331, 0.11283594715160218,
                               -0.026854212010626412, 0.005189087423433974, -0.00080168642871658695,
                               7.8758750626854883e-5};
constexpr double kOuter32[] = {-0.00016423638708161766, 0.28506162011557063,  0.25875136638551912,
                               0.35103032317878854,     -0.11020829405569383, 0.57126517581198151,
                               -0.47652527438460933,    0.12085243316317102};
constexpr double kTop32 = 4;
constexpr double kInner64[] = {
    1.1283791670955126,    -0.37612638903183748,    0.11283791670954879,    -0.026866170645076793,
    0.0052239776248180145, -0.00085483269808337899, 0.00012055331111642711, -1.4925595266831182e-5,
    1.6461000484121368e-6, -1.6350312701054695e-7,  1.4659775274047436e-8,  -1.1372848856791674e-9,
    5.9571761477489114e-11};
constexpr double kOuter64[] = {
    -7.9123584401647916e-9, 0.28209516317016113,  0.28208663718392749,   0.24694411750637506,
    0.17525607999458183,    0.09109359383190011,  -0.043402683319591371, 0.10355132203464417,
    -0.56713685760508609,   1.2738268566880461,   -2.3703687205567729,   3.3892013487254712,
    -2.9756894100501474,    0.86940162199365838,  1.2369687016532538,    -1.7930699246285203,
    1.1088030283570481,     -0.35964073036532034, 0.050080238612587688};
constexpr double kTop64 = 6.5;

std::string polynomial(NodeWriter& node, const std::string& x, std::span<const double> of) {
  std::string all = number(of.back());
  for (size_t k = of.size() - 1; k-- > 0;)
    all = node.let(fmt::format("{} * {} + {}", all, x, number(of[k])));
  return all;
}

// Of a float tensor, in fp32 for the types below it.
std::string erf_of(NodeWriter& node, const std::string& argument, DataType type) {
  const bool wide = type == DataType::fp64;
  const std::string x = node.let(stria::onnx::cast(argument, wide ? type : DataType::fp32));
  const std::string size =
      node.let(fmt::format("min(abs({}), {})", x, number(wide ? kTop64 : kTop32)));
  const std::string square = node.let(fmt::format("{0} * {0}", size));
  const std::string inner =
      polynomial(node, square, wide ? std::span<const double>(kInner64) : kInner32);
  const std::string place = node.let(fmt::format("2.0 / (2.0 + {})", size));
  const std::string outer =
      polynomial(node, place, wide ? std::span<const double>(kOuter64) : kOuter32);
  const std::string far = node.let(fmt::format("1.0 - exp(-{}) * {}", square, outer));
  return node.let(
      fmt::format("{0} < 1.0 ? {1} * {2} : {1} < 0.0 ? -{3} : {3}", size, x, inner, far));
}

// 0.5 * x * (1 + erf(x / sqrt(2)))
std::string exact_gelu(NodeWriter& node, const std::string& x, DataType type) {
  const std::string erf =
      erf_of(node, fmt::format("{} * {}", x, number(0.70710678118654752)), type);
  return stria::onnx::cast(fmt::format("0.5 * {} * (1.0 + {})", x, erf), type);
}

// The input, with the bias of the last dimension if there is one.
Result<std::string> with_bias(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  if (!node.has(1)) return x;
  STRIA_ASSIGN(const std::string bias, node.tensor(1));
  return node.let(fmt::format("{} + {}", x, bias));
}

}  // namespace

Status erf(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  return node.result(0, stria::onnx::cast(erf_of(node, x, type), type));
}

Status gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string form, node.string_attribute("approximate", "none"));
  if (form != "none" && form != "tanh")
    return node.error(fmt::format("approximate '{}': none or tanh", form));
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, form == "tanh" ? tanh_gelu(x) : exact_gelu(node, x, node.type(0).type));
}

Status bias_gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, with_bias(node));
  return node.result(0, exact_gelu(node, x, node.type(0).type));
}

Status fast_gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, with_bias(node));
  return node.result(0, tanh_gelu(x));
}

// The left half of the last dimension by the function of the right one.
Status bias_split_gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string bias, node.tensor(1));
  Sizes sizes = node.type(0).sizes;
  if (sizes.empty() || sizes.back() % 2 != 0 || node.type(1).sizes != Sizes{sizes.back()})
    return node.error(fmt::format("[{}] with a bias of [{}]", fmt::join(sizes, ", "),
                                  fmt::join(node.type(1).sizes, ", ")));
  const DataType type = node.type(0).type;
  const std::string all = node.let(fmt::format("{} + {}", wide(x, type), wide(bias, type)));
  sizes.back() /= 2;
  const Forms to = indices("i", sizes.size());
  const auto half = [&](int64_t first) {
    Forms from = to;
    from.back() = affine({{1, to.back()}}, first);
    return contract(node, '=', to, sizes, access(all, from));
  };
  const std::string left = half(0), right = half(sizes.back());
  return node.result(
      0, narrow(fmt::format("({} * {})", left, exact_gelu(node, right, wide_type(type))), type));
}

Status quick_gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1.702F));
  return node.result(0, fmt::format("{0} * sigmoid({1} * {0})", x, number(alpha)));
}

}  // namespace stria::onnx::operators
