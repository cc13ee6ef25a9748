// SPDX-License-Identifier: Apache-2.0
// Which subnormal numbers a device may take for zero (rule M23 of docs/semantics.md).
#pragma once

#include <cstdint>

#include "stria/type/data_type.h"

namespace stria {

// The float types in whose operations subnormal operands and results may become zero. bf16 goes
// with fp32, in which its operations are done; those of fp16 are done there too, where its
// subnormal numbers are of normal size. None unless added. A plain value.
class FlushedTypes {
 public:
  // fp32 or fp64.
  void add(DataType type) { (type == DataType::fp64 ? fp64_ : fp32_) = true; }
  bool any() const { return fp32_ || fp64_; }
  // Of operations in `type`, an integer type included.
  bool contains(DataType type) const {
    if (type == DataType::fp64) return fp64_;
    return fp32_ && (type == DataType::fp32 || type == DataType::bf16);
  }
  bool operator==(const FlushedTypes&) const = default;

 private:
  bool fp32_ = false, fp64_ = false;
};

}  // namespace stria
