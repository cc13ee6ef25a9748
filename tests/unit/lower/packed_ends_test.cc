// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of packed types in generic Stripe, interpreted: every pattern, many sizes,
// hard numbers. tests/differential/packed_test.cc does so on devices.
#include <gtest/gtest.h>

#include <cstring>

#include "../../packed_numbers.h"
#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "stria/type/host_tensor.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

// The bytes of R = expression of A.
std::string run(const std::string& expression, const TensorType& in, std::string_view bytes) {
  const auto parsed = tile::parse({"t", "function (A) -> (R) { R = " + expression + "; }"});
  EXPECT_TRUE(parsed.ok()) << parsed.status().to_string();
  const auto bound = tile::bind_program(*parsed, "", {{"A", in}});
  EXPECT_TRUE(bound.ok()) << bound.status().to_string();
  const auto generic = lower(*bound);
  EXPECT_TRUE(generic.ok()) << generic.status().to_string();
  EXPECT_TRUE(stripe::verify(*generic).ok()) << stripe::verify(*generic).to_string();
  const tile::BoundTensor& r = bound->tensors[static_cast<size_t>(bound->outputs[0])];
  HostTensor from = HostTensor::create(in.type, in.sizes, "A").value();
  HostTensor to = HostTensor::create(r.outside_type(), r.sizes, "R").value();
  EXPECT_EQ(from.byte_count(), bytes.size());
  if (!bytes.empty()) std::memcpy(from.data(), bytes.data(), bytes.size());
  const Status status =
      interp::interpret(*generic, {{"A", from.data(), memory_shape(in.type, in.sizes)},
                                   {"R", to.data(), memory_shape(r.outside_type(), r.sizes)}});
  EXPECT_TRUE(status.ok()) << status.to_string();
  return std::string(to.bytes());
}

const std::vector<std::vector<int64_t>> kSizes = {
    {}, {1}, {0}, {7}, {8}, {256}, {4, 0}, {3, 5}, {5, 2, 4}, {9, 1}, {3, 11}, {2, 3, 8}};

TEST(PackedEnds, EveryPatternIsReadAndWrittenAgain) {
  for (const DataType type : kPackedTypes)
    for (const auto& sizes : kSizes) {
      SCOPED_TRACE(to_string(type, sizes));
      const int64_t count = dense_shape(type, sizes).element_count();
      std::vector<int> patterns;
      for (int64_t n = 0; n < count; ++n)
        patterns.push_back(static_cast<int>(n * 37) & ((1 << bit_width(type)) - 1));
      const std::string bytes = packed(type, patterns);
      const DataType wide = is_float(type) ? DataType::fp32 : DataType::i32;
      const std::string read =
          run(is_float(type) ? "as_float(A, 32)" : "as_int(A, 32)", {type, sizes}, bytes);
      ASSERT_EQ(read.size(), static_cast<size_t>(4 * count));
      for (size_t n = 0; n < patterns.size(); ++n) {
        const double wanted = meaning(type, patterns[n]);
        const Scalar got = load_scalar(wide, read.data(), static_cast<int64_t>(n));
        if (is_float(type))
          EXPECT_TRUE(same(static_cast<float>(got.f), static_cast<float>(wanted)))
              << "pattern " << patterns[n] << ": " << got.f << " for " << wanted;
        else
          EXPECT_EQ(got.i, static_cast<int64_t>(wanted)) << "pattern " << patterns[n];
        // A NaN becomes the one without a sign.
        if (is_float(type) && std::isnan(wanted)) patterns[n] = nearest(type, kNan);
      }
      EXPECT_EQ(run("A", {type, sizes}, bytes), packed(type, patterns));
      EXPECT_EQ(run(cast_text(type, "A"), {type, sizes}, bytes), packed(type, patterns));
    }
}

TEST(PackedEnds, FloatsAreRoundedOnceToTheNearest) {
  for (const DataType type : kPackedTypes) {
    if (!is_float(type)) continue;
    SCOPED_TRACE(name_of(type));
    const std::vector<float> numbers = hard_numbers(type);
    const TensorType in{DataType::fp32, {static_cast<int64_t>(numbers.size())}};
    const std::string bytes =
        run(cast_text(type, "A"), in,
            {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
    ASSERT_EQ(bytes.size(), static_cast<size_t>(bytes_of(type, in.sizes[0])));
    for (size_t n = 0; n < numbers.size(); ++n)
      EXPECT_EQ(bits_at(bytes, type, n), nearest(type, numbers[n])) << numbers[n];
  }
}

// round_binary has the numbers of a format with infinity: those of fp8_e5m2 are such.
TEST(PackedEnds, RoundBinaryIsTheCastOfItsFormat) {
  const std::vector<float> numbers = hard_numbers(DataType::fp8_e5m2);
  const TensorType in{DataType::fp32, {static_cast<int64_t>(numbers.size())}};
  const std::string bytes =
      run("round_binary(A, 2, -14, 15)", in,
          {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
  for (size_t n = 0; n < numbers.size(); ++n) {
    const double wanted = meaning(DataType::fp8_e5m2, nearest(DataType::fp8_e5m2, numbers[n]));
    const Scalar got = load_scalar(DataType::fp32, bytes.data(), static_cast<int64_t>(n));
    EXPECT_TRUE(same(static_cast<float>(got.f), static_cast<float>(wanted)))
        << numbers[n] << " gives " << got.f;
  }
}

}  // namespace
}  // namespace stria
