// SPDX-License-Identifier: Apache-2.0
// Tensors of strings: they exist only where they are known, and so do their results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// An input of strings: its value, with `strings` and `type.sizes`. invalid_argument if it is none.
Result<ValuePtr> strings_of(NodeWriter& node, int i);
// Result `k` of the node.
Status result_strings(NodeWriter& node, int k, std::vector<std::string> strings,
                      std::vector<int64_t> sizes);

namespace operators {
// Equal, where the inputs are strings.
Status string_equal(NodeWriter& node);
}  // namespace operators

// UTF-8 as code points and back. Bytes that are no UTF-8 count as one code point each.
std::u32string code_points(std::string_view text);
std::string utf8(std::u32string_view points);

}  // namespace stria::onnx
