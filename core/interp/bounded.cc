// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/bounded.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace stria::interp {
namespace {

struct Format {
  double min_normal;  // smallest normal number
  double spacing;     // of neighbours in [1, 2)
  double max;
};
Format format_of(DataType type) {
  switch (type) {
    case DataType::fp16: return {0x1p-14, 0x1p-10, 65504};
    case DataType::bf16: return {0x1p-126, 0x1p-7, 0x1.fep127};
    case DataType::fp32: return {0x1p-126, 0x1p-23, std::numeric_limits<float>::max()};
    default: return {0x1p-1022, 0x1p-52, std::numeric_limits<double>::max()};
  }
}

double spacing_at(const Format& format, double value) {
  if (!std::isfinite(value)) return 0;
  const double size = std::max(std::fabs(value), format.min_normal);
  // The power of two below: the number without its significand.
  return std::bit_cast<double>(std::bit_cast<uint64_t>(size) & 0x7ff0000000000000) * format.spacing;
}

bool any_undecided(const Bounded* x, int n) {
  return std::any_of(x, x + n, [](const Bounded& one) { return one.undecided; });
}

// A result that one of the two computations holds for finite and the other does not is nobody's
// fault.
Bounded settle(Bounded out, const Scalar& typed) {
  const bool same_class =
      std::isnan(out.value) == std::isnan(typed.f) && std::isinf(out.value) == std::isinf(typed.f);
  if (!same_class) out.undecided = true;
  if (!std::isfinite(out.value)) {
    if (out.bound != 0) out.undecided = true;
    out.bound = 0;
  } else if (!std::isfinite(out.bound)) {
    out.undecided = true;
    out.bound = 0;
  }
  return out;
}

Bounded compare_bounded(const Bounded* x, const Scalar& typed) {
  const double margin = x[0].bound + x[1].bound;
  Bounded out{typed.to_double(), 0, any_undecided(x, 2)};
  if (margin > 0 && std::fabs(x[0].value - x[1].value) <= margin) {
    out.undecided = true;
    out.bound = margin;  // how near the operands are: cond looks at it
  }
  return out;
}

Bounded logic_bounded(const Bounded* x, int n, const Scalar& typed) {
  Bounded out{typed.to_double(), 0, any_undecided(x, n)};
  for (int i = 0; i < n; ++i)
    if (x[i].undecided) out.bound += x[i].bound;
  return out;
}

// Where the condition is undecided, but the branches are as near to each other as the compared
// values are (a clamp, a ReLU), either branch is right within a small bound.
Bounded select_bounded(const Scalar* operands, const Bounded* x, DataType type) {
  const Bounded& taken = operands[0].truth() ? x[1] : x[2];
  if (!x[0].undecided || !is_float(type))
    return {taken.value, taken.bound, taken.undecided || x[0].undecided};
  const double apart = std::fabs(x[1].value - x[2].value);
  const double both = std::max(x[1].bound, x[2].bound);
  const bool near = apart <= x[0].bound + x[1].bound + x[2].bound;
  return {taken.value, apart + both, x[1].undecided || x[2].undecided || !near};
}

// Where x may be subnormal, a device may take it for zero, or see it as any number between.
Bounded flushed_operand(const Format& format, Bounded x) {
  const double size = std::fabs(x.value);
  if (size - x.bound < format.min_normal) x.bound = std::max(x.bound, size);
  return x;
}

// Where the result may be subnormal, it may be any number that small: a comparison inside the
// function took operands for zero, perhaps, and a selection did not. A zero of operands without
// error stays one.
Bounded flushed_result(const Format& format, Bounded out, bool from_exact) {
  const double size = std::fabs(out.value);
  if (from_exact && out.value == 0) return out;
  if (size - out.bound < format.min_normal)
    out.bound = std::max(out.bound, size + format.min_normal);
  return out;
}

bool all_exact(const Bounded* x, int n) {
  return std::all_of(x, x + n, [](const Bounded& one) { return one.bound == 0; });
}

// The rounding of a result: the device's, and the smaller one of the fp64 value itself.
double rounding(const Format& format, double ulps, double size) {
  if (!std::isfinite(size)) return 0;  // infinity is exact
  return ulps * (spacing_at(format, size) + size * 0x1p-52);
}

// The three operations that make up most of all work, in closed form.
enum class Arithmetic : uint8_t { other, add, sub, mul };
Arithmetic arithmetic_of(const Builtin& builtin) {
  const std::string_view name = builtin.name;
  return name == "add"   ? Arithmetic::add
         : name == "sub" ? Arithmetic::sub
         : name == "mul" ? Arithmetic::mul
                         : Arithmetic::other;
}
// Is `product` that of a and b, and a normal number of the type or 0? Then nothing is rounded:
// scaling by a power of two leaves the digits as they are.
bool is_exact_product(const Format& format, double a, double b, double product) {
  if (a == 0 || b == 0) return product == 0;
  if (!(std::fabs(product) >= format.min_normal && std::fabs(product) <= format.max)) return false;
  if (format.spacing == 0x1p-23) return static_cast<float>(product) == product;
  return format.spacing == 0x1p-52 && std::fma(a, b, -product) == 0;
}

template <Arithmetic op>
Bounded arithmetic(const Format& format, const Bounded& a, const Bounded& b) {
  Bounded out;
  if constexpr (op == Arithmetic::mul) {
    out.value = a.value * b.value;
    // 0 * inf: an exact operand brings no error, whatever the other is.
    if (a.bound != 0 || b.bound != 0) {
      out.bound = std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound + a.bound * b.bound;
    } else if (is_exact_product(format, a.value, b.value, out.value)) {
      out.undecided = a.undecided || b.undecided;
      return out;
    }
  } else {
    out.value = op == Arithmetic::add ? a.value + b.value : a.value - b.value;
    out.bound = a.bound + b.bound;
  }
  out.bound += rounding(format, 0.5, std::fabs(out.value) + out.bound);
  out.undecided = a.undecided || b.undecided;
  return out;
}

template <Arithmetic op, typename T, bool kFlushes>
void arithmetic_row(DataType type, const Bounded* a, int a_stride, const Bounded* b, int b_stride,
                    const void* typed, int64_t n, Bounded* out) {
  const Format format = format_of(type);
  const T* results = static_cast<const T*>(typed);
  for (int64_t k = 0; k < n; ++k) {
    Bounded x[] = {a[k * a_stride], b[k * b_stride]};
    if constexpr (kFlushes)
      for (Bounded& one : x) one = flushed_operand(format, one);
    out[k] = arithmetic<op>(format, x[0], x[1]);
    if (!std::isfinite(out[k].value) || !std::isfinite(out[k].bound) || !std::isfinite(results[k]))
      out[k] = settle(out[k], Scalar::of_float(type, results[k]));
    if constexpr (kFlushes) out[k] = flushed_result(format, out[k], all_exact(x, 2));
  }
}

// The largest change of the result over the corners of the operands' bounds.
double propagated(const Builtin& builtin, const Bounded* x, double value) {
  const int n = builtin.arity;
  double bound = 0;
  if (all_exact(x, n)) return 0;
  if (builtin.lipschitz > 0) return builtin.lipschitz * x[0].bound;
  Scalar corner[3];
  for (int mask = 0; mask < 1 << n; ++mask) {
    for (int i = 0; i < n; ++i)
      corner[i] =
          Scalar::of_float(DataType::fp64, x[i].value + (mask >> i & 1 ? x[i].bound : -x[i].bound));
    const double change = std::fabs(builtin.reference(DataType::fp64, corner).f - value);
    if (!(change <= bound))
      bound = std::isnan(change) ? std::numeric_limits<double>::infinity() : change;
  }
  // The corners' own fp64 rounding.
  return bound + std::fabs(value) * 0x1p-52;
}

// On a device that keeps subnormal numbers.
Bounded call_exactly(const Builtin& builtin, DataType op_type, const Scalar* operands,
                     const Bounded* x, const Scalar& typed) {
  const int n = builtin.arity;
  if (builtin.types == TypeRule::logic) return logic_bounded(x, n, typed);
  if (builtin.types == TypeRule::select) return select_bounded(operands, x, op_type);
  if (!is_float(op_type)) return {typed.to_double(), 0, any_undecided(x, n)};
  if (builtin.types == TypeRule::comparison) return compare_bounded(x, typed);
  const Format format = format_of(op_type);
  switch (arithmetic_of(builtin)) {
    case Arithmetic::add: return settle(arithmetic<Arithmetic::add>(format, x[0], x[1]), typed);
    case Arithmetic::sub: return settle(arithmetic<Arithmetic::sub>(format, x[0], x[1]), typed);
    case Arithmetic::mul: return settle(arithmetic<Arithmetic::mul>(format, x[0], x[1]), typed);
    case Arithmetic::other: break;
  }
  Scalar wide[3];
  for (int i = 0; i < n; ++i) wide[i] = Scalar::of_float(DataType::fp64, x[i].value);
  Bounded out;
  out.value = builtin.reference(DataType::fp64, wide).f;
  out.undecided = any_undecided(x, n);
  out.bound = propagated(builtin, x, out.value);
  const double ulps = ulp_bound(builtin, op_type);
  if (ulps > 0) out.bound += rounding(format, ulps, std::fabs(out.value) + out.bound);
  return settle(out, typed);
}

}  // namespace

double largest(DataType type) { return format_of(type).max; }

double gamma(DataType type, int64_t k) {
  const double ku = static_cast<double>(k) * 0.5 * format_of(type).spacing;
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

Bounded convert_bounded(const Scalar& from, const Bounded& given, DataType to,
                        const Scalar& converted, FlushedTypes flushed) {
  if (!is_float(from.type)) return {converted.to_double(), 0, given.undecided};
  Bounded x = given;
  for (DataType type : {from.type, to})
    if (flushed.contains(type) && from.type != to) x = flushed_operand(format_of(type), x);
  Bounded out = x;
  if (is_float(to)) {
    if (bit_width(to) > bit_width(from.type) || to == from.type) return out;
    const Format format = format_of(to);
    if (std::fabs(out.value) - out.bound > format.max && std::isinf(converted.f)) {
      out.value = converted.f;
      out.bound = 0;
    } else {
      out.bound += 0.5 * spacing_at(format, std::fabs(out.value) + out.bound);
    }
    return settle(out, converted);
  }
  const Scalar low = convert(Scalar::of_float(DataType::fp64, x.value - x.bound), to);
  const Scalar high = convert(Scalar::of_float(DataType::fp64, x.value + x.bound), to);
  out = {converted.to_double(), 0, x.undecided};
  // bool: zero between the two ends decides as much as an end does.
  const bool across = to == DataType::boolean && x.bound > 0 && std::fabs(x.value) <= x.bound;
  if (low.i != high.i || low.i != converted.i || across) {
    out.undecided = true;
    out.bound = x.bound;
  }
  return out;
}

Bounded call_bounded(const Builtin& builtin, DataType op_type, const Scalar* operands,
                     const Bounded* x, const Scalar& typed, FlushedTypes flushed) {
  if (!flushed.contains(op_type)) return call_exactly(builtin, op_type, operands, x, typed);
  const Format format = format_of(op_type);
  const int n = builtin.arity;
  const int first = builtin.types == TypeRule::select ? 1 : 0;  // operand 0 is a truth value
  Bounded seen[3];
  std::copy(x, x + n, seen);
  for (int i = first; i < n; ++i) seen[i] = flushed_operand(format, seen[i]);
  const Bounded out = call_exactly(builtin, op_type, operands, seen, typed);
  if (!is_float(typed.type)) return out;
  return flushed_result(format, out, all_exact(seen + first, n - first));
}

bool arithmetic_bounded(const Builtin& builtin, DataType type, const Bounded* a, int a_stride,
                        const Bounded* b, int b_stride, const void* typed, int64_t n,
                        FlushedTypes flushed, Bounded* out) {
  if (type != DataType::fp32 && type != DataType::fp64) return false;
  const auto typed_row = [&]<Arithmetic op, bool kFlushes>() {
    if (type == DataType::fp32)
      arithmetic_row<op, float, kFlushes>(type, a, a_stride, b, b_stride, typed, n, out);
    else
      arithmetic_row<op, double, kFlushes>(type, a, a_stride, b, b_stride, typed, n, out);
    return true;
  };
  const auto row = [&]<Arithmetic op>() {
    return flushed.contains(type) ? typed_row.template operator()<op, true>()
                                  : typed_row.template operator()<op, false>();
  };
  switch (arithmetic_of(builtin)) {
    case Arithmetic::add: return row.template operator()<Arithmetic::add>();
    case Arithmetic::sub: return row.template operator()<Arithmetic::sub>();
    case Arithmetic::mul: return row.template operator()<Arithmetic::mul>();
    case Arithmetic::other: break;
  }
  return false;
}

Bounded total(const Aggregating::Sum& sum, DataType type, FlushedTypes flushed) {
  Bounded out{sum.value, sum.bound, sum.undecided};
  const bool is_zero = sum.magnitude == 0 && sum.bound == 0;
  // Each addition may lose its operands and its result.
  if (flushed.contains(type) && !is_zero)
    out.bound += 3 * static_cast<double>(sum.terms) * format_of(type).min_normal;
  // One term is stored as it is.
  if (sum.terms > 1)
    out.bound +=
        (gamma(type, sum.terms + 1) + gamma(DataType::fp64, sum.terms + 1)) * sum.magnitude;
  // A partial sum may overflow in one order and not in another.
  if (std::isfinite(out.value) && sum.magnitude > format_of(type).max) out.undecided = true;
  if (!std::isfinite(out.value)) out.bound = 0;
  if (!std::isfinite(out.bound)) out.undecided = true, out.bound = 0;
  return out;
}

}  // namespace stria::interp
