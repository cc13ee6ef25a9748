// SPDX-License-Identifier: Apache-2.0
// Writes a syntax tree as canonical Tile text: parse(print(x)) == x. Comments stay, before the
// statement they stood in or before.
#pragma once

#include <string>

#include "stria/tile/syntax/ast.h"

namespace stria::tile {

std::string print(const Program& program);
std::string print(const Function& function);
// One line without indentation, semicolon, attributes and comments.
std::string print(const Function& function, const Statement& statement);
// With only the parentheses that precedence needs.
std::string print_expr(const Function& function, ExprId id);

}  // namespace stria::tile
