// SPDX-License-Identifier: Apache-2.0
// What became of each device under a selector, for people and for programs.
#pragma once

#include "stria/runtime/pick/selection.h"

namespace stria::command {

// A line for each device: those that are kept in the order in which they are tried, then the others
// with what drops them.
void print_selection(const Selection& selection);
// The same as JSON, with the selector taken apart.
void print_selection_json(const Selection& selection);

}  // namespace stria::command
