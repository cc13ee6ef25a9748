// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/normalize/moments.h"

#include <fmt/format.h>

namespace stria::onnx {
namespace {

std::string elements_of(const Sizes& sizes, const std::vector<bool>& axes) {
  int64_t out = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (axes[d]) out *= sizes[d];
  return literal(static_cast<double>(out));
}

}  // namespace

Moments moments(NodeWriter& node, const std::string& x, const Sizes& sizes,
                const std::vector<bool>& axes) {
  const std::string elements = elements_of(sizes, axes);
  const std::string sum =
      reduced(node, '+', access(x, indices("i", sizes.size())), sizes, axes).kept;
  Moments out;
  out.mean = node.let(fmt::format("{} / {}", sum, elements));
  out.centered = node.let(fmt::format("{} - {}", x, out.mean));
  out.variance = mean_square(node, out.centered, sizes, axes);
  return out;
}

std::string mean_square(NodeWriter& node, const std::string& x, const Sizes& sizes,
                        const std::vector<bool>& axes) {
  const std::string at = access(x, indices("i", sizes.size()));
  const std::string sum = reduced(node, '+', at + " * " + at, sizes, axes).kept;
  return node.let(fmt::format("{} / {}", sum, elements_of(sizes, axes)));
}

Sizes along(int64_t rank, int64_t axis, int64_t size) {
  Sizes out(static_cast<size_t>(rank), 1);
  out[static_cast<size_t>(axis)] = size;
  return out;
}

}  // namespace stria::onnx
