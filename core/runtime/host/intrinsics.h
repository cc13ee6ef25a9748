// SPDX-License-Identifier: Apache-2.0
// The intrinsics of Stripe as its verifier and the passes want to know them: one for each builtin.
#pragma once

#include <map>
#include <string>

#include "stria/pass/pass_context.h"
#include "stria/stripe/verify/verifier.h"

namespace stria {

const std::map<std::string, stripe::IntrinsicSignature>& intrinsic_signatures();
// builtins' evaluate(). Thread-safe.
const EvaluateIntrinsic& intrinsic_evaluator();

}  // namespace stria
