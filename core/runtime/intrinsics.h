// SPDX-License-Identifier: Apache-2.0
// The intrinsics of Stripe as its verifier wants to know them: one for each builtin.
#pragma once

#include <map>
#include <string>

#include "stria/stripe/verifier.h"

namespace stria {

const std::map<std::string, stripe::IntrinsicSignature>& intrinsic_signatures();

}  // namespace stria
