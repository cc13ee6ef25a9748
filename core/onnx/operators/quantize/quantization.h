// SPDX-License-Identifier: Apache-2.0
// What operators on quantized tensors share: scales and zero points, and the step from numbers to
// integers.
#pragma once

#include <string>
#include <vector>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

// Which elements of a tensor share a scale or a zero point.
struct Granularity {
  std::vector<int64_t> sizes;  // of the tensor that is quantized
  int64_t axis = 1;            // possibly negative
  int64_t block_size = 0;      // along the axis; 0: as many as the sizes ask for
};

// Input `i`, a scale or a zero point, in sizes that broadcast to those of the tensor: of one
// element, one for each slice of the axis, or one for each block along it.
Result<std::string> spread(NodeWriter& node, int i, const Granularity& granularity);

// round(x / scale), halves to the even one, as of a division that is correctly rounded: those of
// devices need not be, and x / scale often lies in the middle of two integers. Right up to 511;
// what is larger gives more than 511. Of fp32, for a positive scale.
std::string rounded_quotient(NodeWriter& node, const std::string& x, const std::string& scale);

// Whole numbers of a float type as integers of `type`: saturate(whole + zero_point). `zero_point`
// may be empty.
std::string saturated(NodeWriter& node, const std::string& whole, const std::string& zero_point,
                      ElementType type);

// Input `i` less input `zero_point`, which may be absent, in an integer type that has all of the
// differences; the input itself if it has no zero point. `spread_zero_point` is its expression in
// sizes that broadcast.
Result<std::string> centered(NodeWriter& node, int i, const std::string& spread_zero_point);

// Integers of `bits` bits that bytes hold, the first in the lowest bits, along the last dimension:
// [rows, bytes] as [rows, bytes * 8 / bits].
Result<std::string> unpacked(NodeWriter& node, const std::string& bytes, int64_t rows,
                             int64_t count, int64_t bits);

// How a tensor becomes u8 by the range of its elements, with 0 in it. Of rank 0.
struct DynamicRange {
  std::string scale;       // 1 if all elements are 0
  std::string zero_point;  // u8
};
Result<DynamicRange> dynamic_range(NodeWriter& node, const std::string& x,
                                   const std::vector<int64_t>& sizes);

}  // namespace stria::onnx
