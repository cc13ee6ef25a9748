// SPDX-License-Identifier: Apache-2.0
// Numbers of the translation as a parameter of a node's function.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

// As many values as the sizes ask for.
template <typename T>
Result<std::string> table(NodeWriter& node, const std::vector<T>& values,
                          std::vector<int64_t> sizes) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(data_type_of<T>(), std::move(sizes), "table"));
  if (out.byte_count() != values.size() * sizeof(T))
    return node.error("a table of other sizes than its elements");
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.byte_count());
  return node.constant(std::move(out));
}

}  // namespace stria::onnx
