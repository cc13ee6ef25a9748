// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/index/position.h"

#include <fmt/format.h>

namespace stria::onnx {

std::string counted_from_start(std::string_view indices, DataType type, int64_t size) {
  if (is_unsigned_integer(type)) return std::string(indices);
  // As 64 bits, which hold every size.
  return fmt::format("as_int({0}, 64) + ({0} < 0 ? {1} : 0)", indices, size);
}

Result<std::string> element_positions(NodeWriter& node, int i, const Sizes& sizes, size_t axis) {
  STRIA_ASSIGN(const std::string indices, node.tensor(i));
  const TensorType& type = node.type(i);
  if (type.sizes.size() != sizes.size())
    return node.error(
        fmt::format("indices of rank {} for a tensor of rank {}", type.sizes.size(), sizes.size()));
  const std::string along = node.let(counted_from_start(indices, type.type, sizes[axis]));
  std::string flat;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d != axis && type.sizes[d] > sizes[d])
      return node.error(fmt::format("indices of sizes [{}] for a tensor of [{}]",
                                    list_text(type.sizes), list_text(sizes)));
    const int64_t stride = product(sizes, d + 1, sizes.size());
    const std::string at = d == axis ? along : fmt::format("index({}, {})", along, d);
    flat += fmt::format("{}{} * {}", d == 0 ? "" : " + ", at, stride);
  }
  return node.let(flat);
}

Result<RowPositions> row_positions(NodeWriter& node, int i, const Sizes& sizes, size_t batch_dims) {
  STRIA_ASSIGN(const std::string indices, node.tensor(i));
  const TensorType& type = node.type(i);
  const size_t rank = type.sizes.size();
  if (rank == 0 || batch_dims >= rank)
    return node.error(fmt::format("indices of rank {} with {} batch dims", rank, batch_dims));
  const int64_t coordinates = type.sizes.back();
  RowPositions out;
  out.sizes.assign(type.sizes.begin(), type.sizes.end() - 1);
  out.dims = batch_dims + static_cast<size_t>(coordinates);
  if (coordinates < 1 || out.dims > sizes.size())
    return node.error(fmt::format("{} coordinates and {} batch dims for a tensor of rank {}",
                                  coordinates, batch_dims, sizes.size()));
  std::string flat;
  std::vector<std::string> from = index_list(rank);
  const std::vector<std::string> to(from.begin(), from.end() - 1);
  for (size_t d = 0; d < out.dims; ++d) {
    const int64_t stride = product(sizes, d + 1, out.dims);
    if (d < batch_dims) continue;
    from.back() = std::to_string(d - batch_dims);
    const std::string one = moved(node, indices, from, to, out.sizes);
    flat += fmt::format("{}({}) * {}", flat.empty() ? "" : " + ",
                        counted_from_start(one, type.type, sizes[d]), stride);
    if (d == batch_dims)
      for (size_t b = 0; b < batch_dims; ++b)
        flat += fmt::format(" + index({}, {}) * {}", one, b, product(sizes, b + 1, out.dims));
  }
  out.name = node.let(flat);
  return out;
}

}  // namespace stria::onnx
