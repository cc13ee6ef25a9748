// SPDX-License-Identifier: Apache-2.0
// Values that are known when a program is bound: literals, dimensions and expressions of them
// alone. They have no element type of their own; the tensors that they meet decide it
// (docs/semantics/types.md, T4 to T7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stria/base/status.h"
#include "stria/builtins/builtin.h"
#include "stria/type/scalar.h"

namespace stria::tile {

struct Constant {
  enum class Kind : uint8_t { boolean, integer, floating };
  Kind kind = Kind::integer;
  int64_t integer = 0;  // also 0 or 1 of a boolean
  double floating = 0;

  static Constant of(int64_t value) { return {Kind::integer, value, 0}; }
  static Constant of(double value) { return {Kind::floating, 0, value}; }
  static Constant of(bool value) { return {Kind::boolean, value ? 1 : 0, 0}; }
  // "3", "0.5", "true".
  std::string to_string() const;
};

// The value of a builtin on constants. Integers are computed in i64, where overflow and a zero
// divisor are errors; floats, and functions that give floats, in fp64. Not for casts. `args` has
// the builtin's arity.
Result<Constant> fold(const Builtin& builtin, std::span<const Constant> args);

// The type that constants get beside tensors whose common type is `tensors`, or alone (nullopt);
// T4, T5. The result is the common type of all.
DataType type_beside(std::optional<DataType> tensors, std::span<const Constant> constants);

// The constant in `type`: an integer must fit, a float may round but not overflow.
Result<Scalar> to_scalar(const Constant& constant, DataType type);

}  // namespace stria::tile
