// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/constant.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "stria/base/text.h"

namespace stria::tile {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

Result<Constant> overflow(std::string_view what, int64_t a, int64_t b) {
  return invalid_argument("{} of {} and {} is beyond the range of i64", what, a, b);
}

// The operations whose integer result may not fit or not exist; nullopt for all others.
std::optional<Result<Constant>> checked(std::string_view name, int64_t a, int64_t b) {
  int64_t out = 0;
  if (name == "add") {
    if (__builtin_add_overflow(a, b, &out)) return overflow("the sum", a, b);
  } else if (name == "sub") {
    if (__builtin_sub_overflow(a, b, &out)) return overflow("the difference", a, b);
  } else if (name == "mul") {
    if (__builtin_mul_overflow(a, b, &out)) return overflow("the product", a, b);
  } else if (name == "div" || name == "mod") {
    if (b == 0) return Result<Constant>(invalid_argument("division of {} by zero", a));
    if (a == kLowest && b == -1) return overflow("the quotient", a, b);
    out = name == "div" ? a / b : a % b;
  } else if (name == "pow" && b >= 0) {
    out = 1;
    int64_t square = a;
    for (int64_t rest = b; rest > 0;) {
      if (rest % 2 == 1 && __builtin_mul_overflow(out, square, &out))
        return overflow("the power", a, b);
      rest /= 2;
      if (rest > 0 && __builtin_mul_overflow(square, square, &square))
        return overflow("the power", a, b);
    }
  } else {
    return std::nullopt;
  }
  return Result<Constant>(Constant::of(out));
}

Scalar scalar_of(const Constant& c, DataType type) {
  if (is_float(type))
    return c.kind == Constant::Kind::floating
               ? Scalar::of_float(type, c.floating)
               : convert(Scalar::of_int(DataType::i64, c.integer), type);
  if (type == DataType::boolean)
    return Scalar::of_bool(c.kind == Constant::Kind::floating ? !(c.floating == 0)
                                                              : c.integer != 0);
  return Scalar::of_int(type, c.integer);
}

Constant constant_of(const Scalar& s) {
  if (s.type == DataType::boolean) return Constant::of(s.i != 0);
  if (is_float(s.type)) return Constant::of(s.f);
  return Constant::of(s.i);
}

bool fits(int64_t value, DataType type) {
  return wrap_to(type, value) == value && !(is_unsigned_integer(type) && value < 0);
}

}  // namespace

std::string Constant::to_string() const {
  switch (kind) {
    case Kind::boolean: return integer != 0 ? "true" : "false";
    case Kind::integer: return std::to_string(integer);
    case Kind::floating: return float_text(floating);
  }
  return "";
}

Result<Constant> fold(const Builtin& builtin, std::span<const Constant> args) {
  const std::string_view name = builtin.name;
  bool floating = builtin.types == TypeRule::floating;
  bool boolean = true;
  for (size_t i = builtin.types == TypeRule::select ? 1 : 0; i < args.size(); ++i) {
    floating |= args[i].kind == Constant::Kind::floating;
    boolean &= args[i].kind == Constant::Kind::boolean;
  }
  DataType type = floating ? DataType::fp64 : DataType::i64;
  if (builtin.types == TypeRule::logic) type = DataType::boolean;
  if (boolean && builtin.types != TypeRule::arithmetic && !floating) type = DataType::boolean;
  if (!allows(builtin, type))
    return invalid_argument(
        "'{}' works on integers, not on {}", name,
        args[0].kind == Constant::Kind::floating ? args[0].to_string() : args.back().to_string());
  if (type == DataType::i64 && args.size() == 2)
    if (auto out = checked(name, args[0].integer, args[1].integer)) return *out;
  if (type == DataType::i64 && name == "neg") return *checked("sub", 0, args[0].integer);
  if (type == DataType::i64 && name == "abs" && args[0].integer == kLowest)
    return invalid_argument("the absolute value of {} is beyond the range of i64", kLowest);
  std::vector<Scalar> values;
  for (size_t i = 0; i < args.size(); ++i)
    values.push_back(scalar_of(args[i], operand_type(builtin, type, static_cast<int>(i))));
  return constant_of(builtin.reference(type, values.data()));
}

DataType type_beside(std::optional<DataType> tensors, std::span<const Constant> constants) {
  bool floating = false;
  bool integer = false;
  bool wide = false;
  for (const Constant& c : constants) {
    floating |= c.kind == Constant::Kind::floating;
    integer |= c.kind == Constant::Kind::integer;
    wide |= c.kind == Constant::Kind::integer && !fits(c.integer, DataType::i32);
  }
  DataType number = wide ? DataType::i64 : DataType::i32;
  if (!tensors) return floating ? DataType::fp32 : integer ? number : DataType::boolean;
  if (floating && !is_float(*tensors)) return DataType::fp32;
  if (integer && *tensors == DataType::boolean) return number;
  return *tensors;
}

Result<Scalar> to_scalar(const Constant& constant, DataType type) {
  Scalar out = scalar_of(constant, type);
  if (constant.kind == Constant::Kind::integer && is_integer(type) && !fits(constant.integer, type))
    return invalid_argument("{} does not fit {}", constant.integer, name_of(type));
  if (is_float(type) && !std::isfinite(out.f) &&
      !(constant.kind == Constant::Kind::floating && !std::isfinite(constant.floating)))
    return invalid_argument("{} is beyond the range of {}", constant.to_string(), name_of(type));
  return out;
}

}  // namespace stria::tile
