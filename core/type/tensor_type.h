// SPDX-License-Identifier: Apache-2.0
// What a program sees of a tensor: its layout is the compiler's business.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/type/data_type.h"

namespace stria {

// Plain value.
struct TensorType {
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;  // elements per dimension, outermost first; empty for a scalar
  bool operator==(const TensorType&) const = default;
};

}  // namespace stria
