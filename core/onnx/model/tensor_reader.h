// SPDX-License-Identifier: Apache-2.0
// TensorProto and SparseTensorProto. Whatever field holds the elements, the tensor has them as
// bytes, as many as its dims say.
#pragma once

#include <memory>

#include "stria/onnx/model/external_data.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {

// What all messages of a file are read with.
struct ReadContext {
  std::shared_ptr<const void> owner;  // keeps the file's bytes
  ExternalData* external = nullptr;   // null: a tensor whose bytes lie elsewhere is an error
};

// As all readers of messages: what they return is good if the reader has not failed in the end.
TensorData read_tensor(WireReader reader, ReadContext& context);
SparseTensorData read_sparse_tensor(WireReader reader, ReadContext& context);

}  // namespace stria::onnx
