// SPDX-License-Identifier: Apache-2.0
// What a scalar holds while a program runs: the typed value, whether it is poison, and in
// error-bound runs the fp64 value with its bound. And what conversions and intrinsics do to it.
#pragma once

#include <type_traits>

#include "stria/interp/bounded.h"
#include "stria/interp/interpret.h"
#include "stria/interp/plan.h"

namespace stria::interp {

struct TypedValue {
  Scalar typed;
  bool poison = false;
};
struct BoundedValue {
  Scalar typed;
  bool poison = false;
  Bounded x;
};
template <typename Value>
inline constexpr bool kHasBounds = std::is_same_v<Value, BoundedValue>;

// A float that the integer type `to` cannot hold: NaN, or truncated out of its range.
bool conversion_overflows(const Scalar& value, DataType to);

// A value without error.
template <typename Value>
Value exactly(const Scalar& typed) {
  Value out;
  out.typed = typed;
  if constexpr (kHasBounds<Value>) out.x = {typed.to_double(), 0, false};
  return out;
}

// `flushed`: of error-bound runs, as in bounded.h.
template <typename Value>
Value converted(const Value& from, DataType to, FlushedTypes flushed, Events& events) {
  if (from.typed.type == to) return from;
  Value out = from;
  out.typed = convert(from.typed, to);
  if constexpr (kHasBounds<Value>)
    out.x = convert_bounded(from.typed, from.x, to, out.typed, flushed);
  if (conversion_overflows(from.typed, to)) ++events.conversion_overflow;
  return out;
}

// The scalar's value, which may be beyond int64, compared with 0 .. size - 1: -1 below, 1 above.
inline int side_of(const Scalar& coordinate, int64_t size) {
  if (is_unsigned_integer(coordinate.type))
    return static_cast<uint64_t>(coordinate.i) >= static_cast<uint64_t>(size) ? 1 : 0;
  return coordinate.i < 0 ? -1 : coordinate.i >= size ? 1 : 0;
}

// Elements from the view's base to the chosen element of a load.
template <typename Value>
int64_t clamped_offset(const StmtPlan& stmt, const Value* scalars, Events& events) {
  int64_t offset = 0;
  bool clamped = false;
  for (const Choice& choice : stmt.chosen) {
    const Scalar& at = scalars[static_cast<size_t>(choice.scalar)].typed;
    const int side = side_of(at, choice.size);
    clamped |= side != 0;
    offset += choice.stride * (side < 0 ? 0 : side > 0 ? choice.size - 1 : at.i);
  }
  events.clamped_reads += clamped;
  return offset;
}

// `value` was loaded from a place that the scalar `choice` chose.
template <typename Value>
void depend(Value& value, const Value& choice) {
  value.poison |= choice.poison;
  if constexpr (kHasBounds<Value>) value.x.undecided |= choice.x.undecided;
}

// The intrinsic on the block's scalars.
template <typename Value>
Value call(const StmtPlan& stmt, const Value* scalars, FlushedTypes flushed, Events& events) {
  Scalar typed[3];
  bool poison[3] = {};
  [[maybe_unused]] Bounded x[3];
  for (size_t i = 0; i < stmt.operands; ++i) {
    const Value& from = scalars[static_cast<size_t>(stmt.from[i])];
    poison[i] = from.poison;
    if (stmt.converts[i]) {
      const Value value = converted(from, stmt.operand_types[i], flushed, events);
      typed[i] = value.typed;
      if constexpr (kHasBounds<Value>) x[i] = value.x;
    } else {
      typed[i] = from.typed;
      if constexpr (kHasBounds<Value>) x[i] = from.x;
    }
  }
  if (stmt.counts_zero_divisor && typed[1].i == 0) ++events.division_by_zero;
  Value out;
  out.typed = stmt.builtin->reference(stmt.type, typed);
  // The branch that is not taken is never looked at.
  const bool select = stmt.builtin->types == TypeRule::select;
  out.poison =
      select ? poison[0] || poison[typed[0].truth() ? 1 : 2] : poison[0] || poison[1] || poison[2];
  if constexpr (kHasBounds<Value>)
    out.x = call_bounded(*stmt.builtin, stmt.type, typed, x, out.typed, flushed);
  return out;
}

}  // namespace stria::interp
