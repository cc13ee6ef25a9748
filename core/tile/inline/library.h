// SPDX-License-Identifier: Apache-2.0
// The composites of core/builtins as functions that a call can inline.
#pragma once

#include <string_view>

#include "stria/tile/syntax/ast.h"

namespace stria::tile {

// nullptr if there is no composite of that name. The function lives as long as the process; its
// spans lie in a text of its own, not in that of any program.
const Function* library_function(std::string_view name);
bool is_library_function(const Function* function);

}  // namespace stria::tile
