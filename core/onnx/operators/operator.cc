// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/operator.h"

#include <vector>

#include "stria/onnx/translate/find_by_name.h"

namespace stria::onnx {

namespace operators {
#define STRIA_ONNX(domain, name, function) Status function(NodeWriter& node);
#include "stria/onnx/operators/all_operators.def"
#undef STRIA_ONNX
}  // namespace operators

std::span<const Operator> all_operators() {
  static const std::vector<Operator> sorted = sorted_by_name<Operator>({
#define STRIA_ONNX(domain, name, function) {domain, #name, operators::function},
#include "stria/onnx/operators/all_operators.def"
#undef STRIA_ONNX
  });
  return sorted;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  return find_by_name(all_operators(), domain, name);
}

}  // namespace stria::onnx
