// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/bounded.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::interp {
namespace {

struct Format {
  int digits;        // of the significand, the hidden one included
  int min_exponent;  // of the smallest normal number
  double max;
};
Format format_of(DataType type) {
  switch (type) {
    case DataType::fp16:
      return {11, -14, 65504};
    case DataType::bf16:
      return {8, -126, 0x1.fep127};
    case DataType::fp32:
      return {24, -126, std::numeric_limits<float>::max()};
    default:
      return {53, -1022, std::numeric_limits<double>::max()};
  }
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

// The largest change of the result over the corners of the operands' bounds.
double propagated(const Builtin& builtin, const Bounded* x, double value) {
  const int n = builtin.arity;
  double bound = 0;
  if (std::all_of(x, x + n, [](const Bounded& one) { return one.bound == 0; })) return 0;
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
  return bound;
}

}  // namespace

double ulp_size(DataType type, double value) {
  const Format format = format_of(type);
  if (!std::isfinite(value)) return 0;
  int exponent = format.min_exponent;
  if (value != 0) exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.digits + 1);
}

double gamma(DataType type, int64_t k) {
  const double ku = std::ldexp(static_cast<double>(k), -format_of(type).digits);
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

Bounded convert_bounded(const Scalar& from, const Bounded& x, DataType to,
                        const Scalar& converted) {
  if (!is_float(from.type)) return {converted.to_double(), 0, x.undecided};
  Bounded out = x;
  if (is_float(to)) {
    if (bit_width(to) > bit_width(from.type) || to == from.type) return out;
    const Format format = format_of(to);
    if (std::fabs(out.value) - out.bound > format.max && std::isinf(converted.f)) {
      out.value = converted.f;
      out.bound = 0;
    } else {
      out.bound += 0.5 * ulp_size(to, std::fabs(out.value) + out.bound);
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
                     const Bounded* x, const Scalar& typed) {
  const int n = builtin.arity;
  if (builtin.types == TypeRule::logic) return logic_bounded(x, n, typed);
  if (builtin.types == TypeRule::select) return select_bounded(operands, x, op_type);
  if (!is_float(op_type)) return {typed.to_double(), 0, any_undecided(x, n)};
  if (builtin.types == TypeRule::comparison) return compare_bounded(x, typed);
  Scalar wide[3];
  for (int i = 0; i < n; ++i) wide[i] = Scalar::of_float(DataType::fp64, x[i].value);
  Bounded out;
  out.value = builtin.reference(DataType::fp64, wide).f;
  out.undecided = any_undecided(x, n);
  out.bound = propagated(builtin, x, out.value);
  const double ulps = ulp_bound(builtin, op_type);
  if (ulps > 0) out.bound += ulps * ulp_size(op_type, std::fabs(out.value) + out.bound);
  return settle(out, typed);
}

void add_term(Aggregating::Sum& sum, const Bounded& term) {
  sum.value += term.value;
  sum.magnitude += std::fabs(term.value);
  sum.bound += term.bound;
  sum.undecided |= term.undecided;
  ++sum.terms;
}

Bounded total(const Aggregating::Sum& sum, DataType type) {
  Bounded out{sum.value, sum.bound, sum.undecided};
  // One term is stored as it is.
  if (sum.terms > 1) out.bound += gamma(type, sum.terms + 1) * sum.magnitude;
  if (!std::isfinite(out.value)) out.bound = 0;
  if (!std::isfinite(out.bound)) out.undecided = true, out.bound = 0;
  return out;
}

}  // namespace stria::interp
