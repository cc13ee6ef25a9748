// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/intrinsics.h"

#include "stria/builtins/builtin.h"

namespace stria {

const std::map<std::string, stripe::IntrinsicSignature>& intrinsic_signatures() {
  static const auto signatures = [] {
    std::map<std::string, stripe::IntrinsicSignature> out;
    for (const Builtin* builtin : all_builtins()) out[builtin->name] = {builtin->arity};
    return out;
  }();
  return signatures;
}

}  // namespace stria
