// SPDX-License-Identifier: Apache-2.0
// Pieces of Tile text that operators share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/type/data_type.h"

namespace stria::onnx {

// A finite number as a float literal: "1.5", "(-2.0)".
std::string number(double value);
// `expression` converted to a type: "as_int(X0, 8)".
std::string cast(const std::string& expression, DataType type);
// A number that has the type wherever it stands; a literal would take that of what it meets.
std::string typed(double value, DataType type);
// `expression` under other sizes: "reshape(X0, 2, 3)".
std::string reshaped(const std::string& expression, const std::vector<int64_t>& sizes);

}  // namespace stria::onnx
