// SPDX-License-Identifier: Apache-2.0
// Pieces of Tile that many operators are written with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// A finite number as a float literal: "1.5", "(-2.0)".
std::string number(double value);
// `expression` converted to a type: "as_int(X0, 8)".
std::string cast(const std::string& expression, DataType type);
// A number that has the type wherever it stands; a literal would take that of what it meets.
std::string typed(double value, DataType type);

// What stands between the brackets of an access: "i0", "2*i1 + k1 - 1", "0".
using Forms = std::vector<std::string>;
using Sizes = std::vector<int64_t>;

// {"i0", "i1"}: an index for each dimension.
Forms indices(std::string_view letter, size_t count);
// "X0[i0, i1]"
std::string access(std::string_view tensor, const Forms& forms);
// Adds "T1[i0 : 3] = +(body), constraints;" and returns "T1".
std::string contract(NodeWriter& node, char aggregation, const Forms& forms, const Sizes& sizes,
                     const std::string& body, const Forms& constraints = {},
                     std::string_view otherwise = "");
// "reshape(X0, 2, 3)"
std::string reshaped(std::string_view tensor, const Sizes& sizes);
// A floating-point literal with the digits that `value` takes; infinities as quotients.
std::string literal(double value);
// `value` as a literal that may meet integers of `type`.
std::string literal(double value, DataType type);
// The product of all sizes.
int64_t element_count(const Sizes& sizes);
// "2 * i0 + 3 * k0 - 1": terms with a factor of 0 and a number of 0 are left out.
std::string affine(std::initializer_list<std::pair<int64_t, std::string>> terms, int64_t number);

// A tensor's elements in the type in which intermediate results are kept: fp32 for fp16. bf16
// stays: there is no conversion to it that could undo one.
std::string wide(const std::string& expression, DataType type);
DataType wide_type(DataType type);
// An expression of type `from` as `to`.
std::string converted(const std::string& expression, DataType from, DataType to);
// What wide() did to elements of `type`, undone.
std::string narrow(const std::string& expression, DataType type);
// A sum or product of elements of `type` as a contraction gives it, in `type` again.
std::string summed(const std::string& expression, DataType type);

// The axes of a list as a mask of dimensions. invalid_argument for those that there are not, and
// for one that stands twice.
Result<std::vector<bool>> axes_of(const NodeWriter& node, const std::vector<int64_t>& axes,
                                  int64_t rank);

// A tensor reduced along some of its dimensions.
struct Reduced {
  std::string kept;  // with a size of 1 where it was reduced
  Sizes sizes;
};
// `body` is an access with the indices i0, i1, …, or a product of such.
Reduced reduced(NodeWriter& node, char aggregation, const std::string& body, const Sizes& sizes,
                const std::vector<bool>& axes, std::string_view otherwise = "");

}  // namespace stria::onnx
