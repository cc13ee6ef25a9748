// SPDX-License-Identifier: Apache-2.0
// Reads Tile text into a syntax tree.
#pragma once

#include "stria/base/status.h"
#include "stria/tile/syntax/ast.h"

namespace stria::tile {

// The whole file; at least one function. Fails with invalid_argument and every message found (up to
// 20), each with its place, line and caret. Safe for any bytes: nesting is limited to 250 brackets
// and expressions to a depth of kMaxExprDepth.
Result<Program> parse(SourceText source);

}  // namespace stria::tile
