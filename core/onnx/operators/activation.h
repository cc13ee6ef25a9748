// SPDX-License-Identifier: Apache-2.0
// Activations that an attribute of another operator names: of a recurrence, or of a product that
// one was fused into.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stria::onnx {

struct Activation {
  std::string name;  // in small letters
  double alpha = 0;
  double beta = 0;
  bool takes_alpha = false;
  bool takes_beta = false;
};

// The activation of a name in any letters, with the factors it has unless others are given.
std::optional<Activation> find_activation(std::string_view name);
// It, of what the name `x` stands for; a name, for it may stand several times.
std::string activated(const Activation& by, const std::string& x);

// Gelu by tanh, of a name.
std::string tanh_gelu(const std::string& x);

}  // namespace stria::onnx
