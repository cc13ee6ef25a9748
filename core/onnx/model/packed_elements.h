// SPDX-License-Identifier: Apache-2.0
// Elements that TensorProto has as a list of numbers, as bytes.
#pragma once

#include "stria/onnx/model/model.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {

// The number of TensorProto's field for elements of the type: float_data, int32_data, string_data,
// int64_data, double_data, uint64_data; 0 for what is no type of elements.
uint32_t field_of_elements(ElementType type);

// Reads that field's lists of numbers to `out.bytes`. A list that lies as it is needed is not
// copied: out.owner keeps it. More than `needed_bytes` are a failure, before there is memory for
// them.
void read_elements(WireReader& tensor, int64_t needed_bytes, TensorData& out);

}  // namespace stria::onnx
