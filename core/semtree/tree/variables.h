// SPDX-License-Identifier: Apache-2.0
// Where a function uses its variables.
#pragma once

#include <map>
#include <set>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Adds the variables that the statement itself uses, not those that bodies inside it use.
void add_used(const Statement& statement, std::set<int>& to);

// Adds the memory objects that the statement itself writes, not what bodies inside it write.
void add_written(const Statement& statement, std::set<int>& to);

// Replaces each of these variables by its expression, wherever `body` uses it.
void replace_variables(Body& body, const std::map<int, ExprRef>& by);

}  // namespace stria::semtree
