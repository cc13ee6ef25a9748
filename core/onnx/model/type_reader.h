// SPDX-License-Identifier: Apache-2.0
// TypeProto and ValueInfoProto.
#pragma once

#include "stria/onnx/model/model.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {

ValueType read_type(WireReader reader);
ValueInfo read_value_info(WireReader reader);

}  // namespace stria::onnx
