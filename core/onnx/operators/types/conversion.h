// SPDX-License-Identifier: Apache-2.0
// Elements of one ONNX type as another. Integers of 4 and 2 bits are held in 8, and floats below 16
// bits as fp32, so that a cast to one of those is arithmetic that leaves a number it has.
#pragma once

#include <string>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

struct CastRules {
  bool saturate = true;           // to floats of 8 bits: beyond the largest number
  std::string round_mode = "up";  // to float8e8m0: "up", "down" or "nearest"
};

// `x` is an expression of `from` as it is held. not_supported: strings and complex numbers.
Result<std::string> converted(NodeWriter& node, const std::string& x, ElementType from,
                              ElementType to, const CastRules& rules = {});

// The numbers that an integer type of up to 32 bits has.
struct IntegerRange {
  int64_t lowest = 0, highest = 0;
};
IntegerRange range_of(ElementType type);

// The ONNX type that an attribute names, or `otherwise`. invalid_argument: no such type.
Result<ElementType> type_attribute(NodeWriter& node, std::string_view name, ElementType otherwise);

}  // namespace stria::onnx
