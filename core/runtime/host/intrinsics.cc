// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/intrinsics.h"

#include "stria/builtins/builtin.h"
#include "stria/builtins/evaluate.h"

namespace stria {

const std::map<std::string, stripe::IntrinsicSignature>& intrinsic_signatures() {
  static const auto signatures = [] {
    std::map<std::string, stripe::IntrinsicSignature> out;
    for (const Builtin* builtin : all_builtins()) out[builtin->name] = {builtin->arity};
    return out;
  }();
  return signatures;
}

const EvaluateIntrinsic& intrinsic_evaluator() {
  static const EvaluateIntrinsic evaluator = evaluate;
  return evaluator;
}

}  // namespace stria
