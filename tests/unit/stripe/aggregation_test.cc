// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/aggregation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stria::stripe {
namespace {

TEST(Aggregation, IdentitiesAreTheNeutralValuesOfEveryType) {
  for (int t = 0; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    SCOPED_TRACE(name_of(type));
    auto of = [&](AggOp op) {
      const Scalar value = identity_of({op, type});
      EXPECT_EQ(value.type, type);
      return is_float(type) ? value.f : static_cast<double>(value.i);
    };
    EXPECT_EQ(of(AggOp::add), 0);
    EXPECT_EQ(of(AggOp::mul), 1);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const int bits = bit_width(type);
    if (is_float(type)) {
      EXPECT_EQ(of(AggOp::max), -kInfinity);
      EXPECT_EQ(of(AggOp::min), kInfinity);
    } else if (type == DataType::boolean) {
      EXPECT_EQ(of(AggOp::max), 0);
      EXPECT_EQ(of(AggOp::min), 1);
    } else if (is_unsigned_integer(type)) {
      EXPECT_EQ(of(AggOp::max), 0);
      EXPECT_EQ(static_cast<uint64_t>(identity_of({AggOp::min, type}).i),
                ~uint64_t{0} >> (64 - bits));
    } else {
      EXPECT_EQ(identity_of({AggOp::max, type}).i,
                std::numeric_limits<int64_t>::min() >> (64 - bits));
      EXPECT_EQ(identity_of({AggOp::min, type}).i,
                std::numeric_limits<int64_t>::max() >> (64 - bits));
    }
  }
}

}  // namespace
}  // namespace stria::stripe
