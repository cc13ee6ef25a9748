// SPDX-License-Identifier: Apache-2.0
// The elements of tensors that programs of the suite read: the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stria/type/host_tensor.h"
#include "stria/type/scalar.h"

namespace stria::conformance {

enum class Values {
  plain,      // floats about N(0, 1), integers -8..7, unsigned ones 0..15
  positive,   // floats 0.05..8, integers 1..15
  unit,       // floats in -1..1
  above_one,  // floats 1..9
  near_one,   // floats 0.5..1.5, integers -3..3: for products of many
  few,        // -2..2, unsigned 0..4: many are equal
  wide,       // floats of many sizes, integers of all bits
  special,    // floats: NaN, infinities, zeros, subnormal and largest numbers; each in turn
  edge,       // integers: least, largest, around zero and around the width; each in turn
  index,      // integers below a limit, and some that are below 0 or not below the limit
  state,      // of random numbers (M16)
  numbered,   // 0, 1, 2, …: no two neighbours are equal
};

// The values of `special` for a float type, of `edge` for an integer type or bool.
std::vector<Scalar> special_values(DataType type);

// A tensor with such elements. `limit` is for `index` alone.
Result<HostTensor> make_values(DataType type, const std::vector<int64_t>& sizes, Values values,
                               uint32_t seed, int64_t limit = 0);

// The name of a kind of values, as the cases' texts spell it: "near_one".
std::optional<Values> parse_values(std::string_view name);

}  // namespace stria::conformance
