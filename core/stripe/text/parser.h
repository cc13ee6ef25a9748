// SPDX-License-Identifier: Apache-2.0
// Reads Stripe text: the canonical spelling and the looser one of older printouts (grammar:
// core/stripe/README.md). Only the form is checked here; what names mean is the verifier's.
// Thread-safe; never reads beyond the text, whatever it holds.
#pragma once

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::stripe {

// Blocks nested deeper than this are refused.
inline constexpr int kMaxDepth = 128;

// The program, or invalid_argument (incompatible for another text version) with one message per
// mistake, each with file:line:column, the source line and a caret; 20 at most.
Result<Program> parse(const SourceText& source);

// A form of bit fields alone, as in a location's owners: "4*d0[0+:3] + d1[1+:2]".
Result<BitFieldForm> parse_bit_form(const SourceText& source);

}  // namespace stria::stripe
