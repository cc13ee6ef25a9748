// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/aggregation.h"

#include <limits>

namespace stria::stripe {

Scalar identity_of(const Aggregation& agg) {
  const bool highest = agg.op == AggOp::min;
  switch (agg.op) {
    case AggOp::add: return convert(Scalar::of_int(DataType::i32, 0), agg.type);
    case AggOp::mul: return convert(Scalar::of_int(DataType::i32, 1), agg.type);
    case AggOp::max:
    case AggOp::min: break;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_float(agg.type)) return Scalar::of_float(agg.type, highest ? kInfinity : -kInfinity);
  // The conversion from a float saturates at the extremes of the type; that to bool is "not 0".
  if (agg.type == DataType::boolean) return Scalar::of_bool(highest);
  return convert(Scalar::of_float(DataType::fp64, highest ? kInfinity : -kInfinity), agg.type);
}

}  // namespace stria::stripe
