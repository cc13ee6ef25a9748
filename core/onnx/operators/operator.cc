// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/operator.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace stria::onnx {

namespace operators {
#define STRIA_ONNX(domain, name, function) Status function(NodeWriter& node);
#include "stria/onnx/operators/all_operators.def"
#undef STRIA_ONNX
}  // namespace operators

namespace {

bool before(const Operator& a, const Operator& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}

}  // namespace

std::span<const Operator> all_operators() {
  static const std::vector<Operator> sorted = [] {
    std::vector<Operator> all = {
#define STRIA_ONNX(domain, name, function) {domain, #name, operators::function},
#include "stria/onnx/operators/all_operators.def"
#undef STRIA_ONNX
    };
    std::sort(all.begin(), all.end(), before);
    return all;
  }();
  return sorted;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  const Operator wanted{domain, name, nullptr};
  const std::span<const Operator> all = all_operators();
  const auto at = std::lower_bound(all.begin(), all.end(), wanted, before);
  return at != all.end() && !before(wanted, *at) ? &*at : nullptr;
}

}  // namespace stria::onnx
