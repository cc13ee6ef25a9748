// SPDX-License-Identifier: Apache-2.0
// Statements that move elements, for operators that do little else. Names of tensors go in and out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

using Sizes = std::vector<int64_t>;

// The product of sizes[begin], …, sizes[end - 1].
int64_t product(std::span<const int64_t> sizes);
int64_t product(const Sizes& sizes, size_t begin, size_t end);
// "2, 3"
std::string list_text(const Sizes& sizes);
// {"i0", "i1"}
std::vector<std::string> index_list(size_t rank);

// Moves elements: "T1[to : sizes] = =(x[from]) rest;", returns "T1". `rest` may hold constraints
// and a default.
std::string moved(NodeWriter& node, std::string_view x, const std::vector<std::string>& from,
                  const std::vector<std::string>& to, const Sizes& sizes,
                  std::string_view rest = "");
// x with `axes` in another order: dimension d of the result is dimension axes[d] of x.
std::string transposed(NodeWriter& node, std::string_view x, const Sizes& axes,
                       const Sizes& x_sizes);
// x broadcast to `sizes` (M6).
std::string expanded(NodeWriter& node, std::string_view x, const Sizes& x_sizes,
                     const Sizes& sizes);
// x along `axis` from `start` in steps of `step`, which may be negative: `size` elements.
std::string sliced(NodeWriter& node, std::string_view x, const Sizes& x_sizes, size_t axis,
                   int64_t start, int64_t step, int64_t size);
// Tensors one behind the other along `axis`; their other sizes are equal.
std::string concatenated(NodeWriter& node, const std::vector<std::string>& tensors,
                         const std::vector<Sizes>& sizes, size_t axis);

// Elements of x at the positions of the integer tensor `positions` along `axis`, as gather clamps
// them: sizes before the axis, those of the positions, sizes behind it. `x` of sizes `x_sizes`.
std::string taken(NodeWriter& node, std::string_view x, const Sizes& x_sizes, size_t axis,
                  std::string_view positions, const Sizes& positions_sizes);

// Tables that the translation makes hold 2^26 elements at most, since sizes in a file are any
// numbers; `what` needs one of these sizes. unsupported: more.
Status check_table(const NodeWriter& node, const std::string& what,
                   std::initializer_list<int64_t> sizes);
// A known tensor of integers of type i64, and one of numbers of any type.
Result<HostTensor> integer_table(const std::vector<int64_t>& values, const Sizes& sizes);
Result<HostTensor> number_table(DataType type, const std::vector<double>& values,
                                const Sizes& sizes);

}  // namespace stria::onnx
