// SPDX-License-Identifier: Apache-2.0
// Texts that are no Stripe, or not whole, or of a later version: refused, and nothing else happens.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_bad_text_cases(CaseMaker& maker);

}  // namespace stria::conformance
