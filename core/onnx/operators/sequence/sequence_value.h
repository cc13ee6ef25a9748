// SPDX-License-Identifier: Apache-2.0
// Sequences while a graph is translated, and the tensors that go in and out of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

ValuePtr sequence_of(const NodeWriter& node, std::vector<ValuePtr> items);
// The items of an input. invalid_argument if it is no sequence.
Result<std::vector<ValuePtr>> items_of(NodeWriter& node, int i);

// `size` elements of a tensor along `axis`, or, without `keeps_axis`, the one at `begin`.
Result<ValuePtr> part_of(NodeWriter& node, const ValuePtr& tensor, int64_t axis, int64_t begin,
                         int64_t size, bool keeps_axis);
// Tensors behind each other along `axis`, which is a new one if `stacked`. At least one.
Result<ValuePtr> joined_along(NodeWriter& node, const std::vector<ValuePtr>& tensors, int64_t axis,
                              bool stacked);

}  // namespace stria::onnx
