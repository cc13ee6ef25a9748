// SPDX-License-Identifier: Apache-2.0
// Conditions that an index does not decide.
#pragma once

#include <cstdint>
#include <string>

#include "stria/poly/affine.h"

namespace stria {

// Is `form >= 0` true for all values 0 .. range-1 of the index or for none, whatever those of the
// others are? Then the condition is the same without the index's term. Never true by mistake; may
// be false where a proof would need the others' ranges.
bool holds_together(const Affine& form, const std::string& index, int64_t range);

}  // namespace stria
