// SPDX-License-Identifier: Apache-2.0
// AttributeProto: a value of the kind that `type` says, or the name of a function's attribute.
#pragma once

#include "stria/onnx/model/model.h"
#include "stria/onnx/model/tensor_reader.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {

Attribute read_attribute(WireReader reader, ReadContext& context);

}  // namespace stria::onnx
