// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/activation.h"

#include <fmt/format.h>

#include <cctype>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// {0} is the element, {1} and {2} are alpha and beta.
struct Kind {
  std::string_view name;
  bool alpha, beta;
  double default_alpha, default_beta;
  std::string_view form;
};
constexpr Kind kKinds[] = {
    {"affine", true, true, 1, 0, "{1} * {0} + {2}"},
    {"celu", true, false, 1, 0, "max({0}, 0) + min({1} * (exp({0} / {1}) - 1), 0)"},
    {"elu", true, false, 1, 0, "{0} >= 0 ? {0} : {1} * (exp({0}) - 1)"},
    {"hardsigmoid", true, true, 0.2, 0.5, "max(min({1} * {0} + {2}, 1), 0)"},
    {"leakyrelu", true, false, 0.01, 0, "{0} >= 0 ? {0} : {1} * {0}"},
    {"relu", false, false, 0, 0, "relu({0})"},
    {"scaledtanh", true, true, 1, 1, "{1} * tanh({2} * {0})"},
    // Its gamma is beta.
    {"selu", true, true, 1.67326319217681884765625, 1.05070102214813232421875,
     "{0} > 0 ? {2} * {0} : {2} * ({1} * exp({0}) - {1})"},
    {"sigmoid", false, false, 0, 0, "sigmoid({0})"},
    // exp() of what is not above 0 cannot overflow.
    {"softplus", false, false, 0, 0, "max({0}, 0) + log(1 + exp(-abs({0})))"},
    {"softsign", false, false, 0, 0, "{0} / (1 + abs({0}))"},
    {"tanh", false, false, 0, 0, "tanh({0})"},
    {"thresholdedrelu", true, false, 1, 0, "{0} >= {1} ? {0} : 0"},
};

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace

std::optional<Activation> find_activation(std::string_view name) {
  const Kind* const kind = find_kind(small_letters(name));
  if (!kind) return std::nullopt;
  return Activation{std::string(kind->name), kind->default_alpha, kind->default_beta, kind->alpha,
                    kind->beta};
}

std::string activated(const Activation& by, const std::string& x) {
  return fmt::format(fmt::runtime(find_kind(by.name)->form), x, literal(by.alpha),
                     literal(by.beta));
}

std::string tanh_gelu(const std::string& x) {
  return fmt::format("0.5 * {0} * (1.0 + tanh({1} * ({0} + 0.044715 * {0} * {0} * {0})))", x,
                     number(0.79788456080286536));
}

}  // namespace stria::onnx
