// SPDX-License-Identifier: Apache-2.0
// Stripe as text, in its one canonical spelling (grammar: core/stripe/README.md). What the printer
// writes the parser reads back to an equal program, provided that the names in it are identifiers
// (which the verifier checks). Pure functions; safe from any thread.
#pragma once

#include <string>

#include "stria/stripe/block.h"

namespace stria::stripe {

// First line "stripe 1.0", then the entry block. Ends with a newline.
std::string print(const Program& program);

// The block as statement 0 without the first line, as it would stand alone in a file: the parser
// reads it as a program whose entry it is.
std::string print(const Block& block);

// One statement without its number, dependencies and line break: "$O1 = mul.i32($I, $K1)". A block
// shows its first line up to the index list only. For messages.
std::string print_line(const Statement& stmt);

// "in I[x, y] i8(1:32, 1:1)".
std::string print_line(const Refinement& ref);

// "SM[g]/LANE[l]"; "" if unset.
std::string to_string(const Location& location);

}  // namespace stria::stripe
