// SPDX-License-Identifier: Apache-2.0
// Functions of Tile that are written in Tile: a call is bound as if the file held the function.
// Each is one record in a file of its own, listed in all_composites.def. They have no Stripe form
// and need nothing from a device; their gradients are those of the statements they are made of,
// unless the record has one.
#pragma once

#include <span>
#include <string_view>

#include "stria/builtins/builtin.h"

namespace stria {

struct Composite {
  const char* name;
  const char* tile;     // the text of one function of that name
  const char* doc;      // one or two sentences: shapes of the arguments and of the result
  const char* example;  // Tile
  // Over the first operands X, Y, Z; nothing set: that of its statements.
  Derivative gradient = {};
};

// Every record, in the order of all_composites.def (the order of the documentation).
std::span<const Composite* const> all_composites();
// Null if there is no composite of that name.
const Composite* find_composite(std::string_view name);

}  // namespace stria
