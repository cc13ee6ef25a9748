// SPDX-License-Identifier: Apache-2.0
// GraphProto, FunctionProto and NodeProto. Their attributes may hold graphs again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/onnx/model/model.h"
#include "stria/onnx/model/tensor_reader.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {

Graph read_graph(WireReader reader, ReadContext& context);
Function read_function(WireReader reader, ReadContext& context);
// OperatorSetIdProto. A domain has one version.
void read_opset(WireReader reader, std::map<std::string, int64_t>& opsets);

}  // namespace stria::onnx
