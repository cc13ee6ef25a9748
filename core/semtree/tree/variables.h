// SPDX-License-Identifier: Apache-2.0
// Where a function uses its variables.
#pragma once

#include <map>
#include <set>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Adds those that the statement itself uses, not those that bodies inside it use.
void add_used(const Statement& statement, std::set<int>& to);

// Each of these variables is the expression instead, wherever `body` uses it.
void replace_variables(Body& body, const std::map<int, ExprRef>& by);

// Definitions whose variables nothing uses are taken away, and loops and conditions in which
// nothing is left.
void remove_unused(Function& function);

}  // namespace stria::semtree
