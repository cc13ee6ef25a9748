// SPDX-License-Identifier: Apache-2.0
// Binds a Tile function to the types and sizes of its inputs: it resolves names, inlines calls,
// decides every type and size, finds the exact range of every index, and reports what does not fit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/tile/bind/bound.h"
#include "stria/tile/syntax/ast.h"
#include "stria/type/tensor_type.h"

namespace stria::tile {

using stria::TensorType;

// The function that a program starts with: `name`, or for "" the unnamed one, or the last one.
// not_found if there is no such function, with the nearest name.
Result<const Function*> entry_function(const Program& program, std::string_view name);

// Checks what can be wrong with the functions of `program` whatever its inputs are: names,
// arguments of calls, attributes, recursion. bind_program finds that too. invalid_argument with
// every message (up to 20).
Status check_program(const Program& program);

// (Not called `bind`: std::bind would be found by argument lookup.)
// `inputs` by parameter name; names that the function does not have are ignored (a caller that
// wants to refuse them compares with BoundProgram::inputs). Fails with every message found (up to
// 20). invalid_argument: the program or an input is wrong. not_found: no such function.
Result<BoundProgram> bind_program(const Program& program, std::string_view function,
                                  const std::map<std::string, TensorType>& inputs);

}  // namespace stria::tile
