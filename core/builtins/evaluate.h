// SPDX-License-Identifier: Apache-2.0
// One intrinsic on known operands, as every device has to compute it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stria/type/scalar.h"

namespace stria {

// `name.type` on the operands, converted to what the record asks for. Nothing if no builtin has
// this name, takes so many operands and allows the type. Thread-safe.
std::optional<Scalar> evaluate(std::string_view name, DataType type,
                               const std::vector<Scalar>& operands);

}  // namespace stria
