// SPDX-License-Identifier: Apache-2.0
// The single steps of shrink(): each makes a program smaller in one place and leaves it well
// formed, with nothing that names what is gone.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "stria/stripe/block.h"

namespace stria {

// Changes the program, or returns false: there is nothing to change there.
using Edit = std::function<bool(stripe::Program&)>;

// One kind of step: all places in the program where it can be taken, the last place first. So a
// step leaves the places of the steps yet to come as they were.
using EditKind = std::function<std::vector<Edit>(const stripe::Program&)>;

// Coarse ones first.
std::vector<EditKind> all_edit_kinds();

// Drops what refers to something that does not exist: views of no tensor, terms of no index,
// statements that use an undefined scalar.
void drop_dangling(stripe::Program& program);

}  // namespace stria
