// SPDX-License-Identifier: Apache-2.0
// Types of elements in ONNX, and those that hold them here.
#pragma once

#include <memory>
#include <optional>

#include "stria/base/result.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/translate/value.h"
#include "stria/type/data_type.h"
#include "stria/type/host_tensor.h"

namespace stria::onnx {

// The type that holds elements of an ONNX type here: 8 bits for integers of 4 and 2, fp32 for the
// floats below 16. nullopt: strings, complex numbers.
std::optional<DataType> tile_type_of(ElementType type);
// The type of an input or output of a program: a packed one, whose bytes are those of the standard,
// or tile_type_of.
std::optional<DataType> outside_type_of(ElementType type);
ElementType element_type_of(DataType type);
// A tensor's type in ONNX.
ElementType element_of(const Value& value);
// A tensor of the file as elements of the type that holds them. unsupported: other types.
Result<HostTensor> host_tensor_of(const TensorData& data);
// A sparse one with its zeros. unsupported, too: more of them than a file may ask for.
Result<HostTensor> host_tensor_of(const SparseTensorData& data);
// As an input or output of a program has it.
Result<HostTensor> outside_tensor_of(const TensorData& data);
// What callers gave, with elements of a packed type in the type that holds them.
Result<std::shared_ptr<const HostTensor>> held(std::shared_ptr<const HostTensor> given);

}  // namespace stria::onnx
