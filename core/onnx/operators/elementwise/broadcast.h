// SPDX-License-Identifier: Apache-2.0
// How operators of two tensors broadcast the second one.
#pragma once

#include <string>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

// Input 1. Before opset 7 the attribute `axis` may say which dimensions of input 0 its own are.
Result<std::string> second_operand(NodeWriter& node);

// invalid_argument unless inputs `first`, `first` + 1, … have elements of one type.
Status check_one_type(NodeWriter& node, int first = 0);

}  // namespace stria::onnx
