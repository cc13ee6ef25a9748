// SPDX-License-Identifier: Apache-2.0
// Shape and Reshape.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status shape(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  const std::vector<int64_t>& sizes = node.type(0).sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  STRIA_ASSIGN(int64_t start, node.integer_attribute("start", 0));
  STRIA_ASSIGN(int64_t end, node.integer_attribute("end", rank));
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  STRIA_ASSIGN(HostTensor out, HostTensor::create(DataType::i64, {end - start}, "shape"));
  if (end > start)
    std::memcpy(out.data(), sizes.data() + start, static_cast<size_t>(end - start) * 8);
  return node.result_known(0, std::move(out));
}

Status reshape(NodeWriter& node) {
  std::vector<int64_t> sizes;
  if (node.version() < 5) {
    STRIA_ASSIGN(sizes, node.integers_attribute("shape"));
  } else {
    STRIA_ASSIGN(sizes, node.integers(1));
  }
  STRIA_ASSIGN(const int64_t zero_is_zero, node.integer_attribute("allowzero", 0));
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const std::vector<int64_t>& from = node.type(0).sizes;
  int64_t all = 1, rest = 1;
  for (const int64_t size : from) all *= size;
  std::optional<size_t> open;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0 && !zero_is_zero) {
      if (d >= from.size())
        return node.error(
            fmt::format("dimension {} is to be copied from a tensor of rank {}", d, from.size()));
      sizes[d] = from[d];
    }
    if (sizes[d] == -1 && !open) {
      open = d;
      continue;
    }
    if (sizes[d] < 0)
      return node.error(fmt::format("shape [{}] is no shape", fmt::join(sizes, ", ")));
    if (__builtin_mul_overflow(rest, sizes[d], &rest))
      return node.error(
          fmt::format("shape [{}] has more elements than 64 bits count", fmt::join(sizes, ", ")));
  }
  if (open) {
    if (rest == 0 || all % rest != 0)
      return node.error(fmt::format("{} elements do not fit [{}]", all, fmt::join(sizes, ", ")));
    sizes[*open] = all / rest;
  } else if (rest != all) {
    return node.error(fmt::format("{} elements do not fit [{}]", all, fmt::join(sizes, ", ")));
  }
  return node.result(0, sizes.empty() ? fmt::format("reshape({})", x)
                                      : fmt::format("reshape({}, {})", x, fmt::join(sizes, ", ")));
}

}  // namespace stria::onnx::operators
