// SPDX-License-Identifier: Apache-2.0
// The numbers that functions are tried on: the same in every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/type/data_type.h"

namespace stria::precision {

// Operands of one call, drawn piece by piece. Its first ones are every value of a single operand of
// at most 16 bits, or every combination of the edges of two operands; all others are drawn: in
// equal parts uniform in their bits (all exponents alike, NaN and subnormals included), of moderate
// size, a few steps beside an edge, and uniform in -1 .. 1; second operands also a few steps beside
// the first. The edges of a type are zeros, infinities, quiet and signalling NaN, subnormals, the
// smallest and largest numbers, halfway cases of roundings and conversions, and where functions
// turn or leave the type.
class Operands {
 public:
  explicit Operands(std::vector<DataType> types);
  // So many come before the drawn ones.
  uint64_t listed() const { return listed_; }
  // The next `count` of each operand, as elements.
  std::vector<std::string> next(int64_t count);

 private:
  uint64_t random();
  uint64_t drawn(DataType type, const std::vector<uint64_t>& edges);
  std::vector<DataType> types_;
  std::vector<std::vector<uint64_t>> edges_;
  uint64_t listed_ = 0;
  uint64_t position_ = 0;
  uint64_t state_ = 1;
};

}  // namespace stria::precision
