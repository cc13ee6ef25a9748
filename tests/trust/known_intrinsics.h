// SPDX-License-Identifier: Apache-2.0
// The builtins as the verifier wants to know them, without the runtime that has the same map.
#pragma once

#include <map>
#include <string>

#include "stria/builtins/builtin.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::trust {

inline const std::map<std::string, stripe::IntrinsicSignature>& known_intrinsics() {
  static const auto known = [] {
    std::map<std::string, stripe::IntrinsicSignature> out;
    for (const Builtin* builtin : all_builtins()) out[builtin->name] = {builtin->arity};
    return out;
  }();
  return known;
}

}  // namespace stria::trust
