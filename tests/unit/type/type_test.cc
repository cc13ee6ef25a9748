// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stria/type/data_type.h"
#include "stria/type/half.h"
#include "stria/type/scalar.h"
#include "stria/type/small_float.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

TEST(DataType, NamesReadBack) {
  for (int i = 0; i < kDataTypeCount; ++i) {
    auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(name_of(type)), type);
  }
  EXPECT_EQ(parse_data_type("float"), std::nullopt);
}

// Every 16-bit pattern survives the trip through double, and the midpoint of two neighbours goes to
// the even one.
TEST(Half, ExhaustiveRoundTripAndTies) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    for (bool brain : {false, true}) {
      auto decode = brain ? bf16_to_double : fp16_to_double;
      auto encode = brain ? bf16_from_double : fp16_from_double;
      double value = decode(static_cast<uint16_t>(bits));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(encode(value))));
        continue;
      }
      ASSERT_EQ(encode(value), bits);
      double next = decode(static_cast<uint16_t>(bits + 1));
      if ((bits & 0x7fff) == 0x7fff || std::isinf(value) || !std::isfinite(next)) continue;
      double middle = value / 2 + next / 2;
      ASSERT_EQ(encode(middle), bits % 2 ? bits + 1 : bits) << bits;
      ASSERT_EQ(encode(std::nextafter(middle, value)), bits);
    }
  }
  EXPECT_EQ(fp16_from_double(65520.0), 0x7c00);
  EXPECT_EQ(fp16_from_double(65519.9), 0x7bff);
}

TEST(Scalar, ConversionRules) {
  auto to_int = [](double f, DataType t) {
    return convert(Scalar::of_float(DataType::fp64, f), t).i;
  };
  EXPECT_EQ(to_int(-1.9, DataType::i32), -1);
  EXPECT_EQ(to_int(300, DataType::i8), 127);
  EXPECT_EQ(to_int(-300, DataType::u8), 0);
  EXPECT_EQ(to_int(NAN, DataType::i64), 0);
  EXPECT_EQ(to_int(1e30, DataType::i64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_int(INFINITY, DataType::u64), -1);
  EXPECT_EQ(convert(Scalar::of_int(DataType::i32, 200), DataType::i8).i, -56);
  EXPECT_EQ(convert(Scalar::of_int(DataType::i8, -1), DataType::u16).i, 65535);
  EXPECT_EQ(convert(Scalar::of_float(DataType::fp32, NAN), DataType::boolean).i, 1);
  // 2^24 + 1 is halfway between two floats: ties to even.
  EXPECT_EQ(convert(Scalar::of_int(DataType::i32, (1 << 24) + 1), DataType::fp32).f, 1 << 24);
  // 64-bit integers round once on the way to a 16-bit float: 2^62 + 2^54 + 1 lies just above the
  // middle of two bf16 numbers, and rounding through double would put it on the middle.
  int64_t above = (int64_t{1} << 62) + (int64_t{1} << 54) + 1;
  EXPECT_EQ(convert(Scalar::of_int(DataType::i64, above), DataType::bf16).f, 0x1p62 + 0x1p55);
}

// By all values of the types up to 16 bits.
TEST(Scalar, WhichTypesHaveAllValuesOfOthers) {
  for (int t = 0; t < kAllDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    if (bit_width(type) > 16) continue;
    for (int w = 0; w < kAllDataTypeCount; ++w) {
      const auto wide = static_cast<DataType>(w);
      bool keeps = true;
      for (int bits = 0; bits < 1 << (type == DataType::boolean ? 1 : bit_width(type)); ++bits) {
        const auto memory = static_cast<uint16_t>(bits);
        const Scalar value = load_scalar(type, &memory, 0);
        const double was = value.to_double();
        keeps =
            keeps && (std::isnan(was) ? is_float(wide) : convert(value, wide).to_double() == was);
      }
      EXPECT_EQ(has_all_values_of(wide, type), keeps) << name_of(type) << " in " << name_of(wide);
    }
  }
}

TEST(Scalar, LoadsWhatWasStored) {
  for (int t = 0; t < kAllDataTypeCount; ++t) {
    auto type = static_cast<DataType>(t);
    uint64_t memory[4] = {};
    Scalar one = is_float(type) ? Scalar::of_float(type, 1.5) : Scalar::of_int(type, 1);
    store_scalar(type, memory, 2, one);
    EXPECT_EQ(load_scalar(type, memory, 2).to_double(), one.to_double()) << name_of(type);
    EXPECT_EQ(load_scalar(type, memory, 1).to_double(), 0) << name_of(type);
  }
}

TEST(Scalar, PackedElementsShareBytes) {
  uint8_t memory[2] = {0xff, 0xff};
  for (int k = 0; k < 3; ++k)
    store_scalar(DataType::i4, memory, k, Scalar::of_int(DataType::i32, k - 2));
  EXPECT_EQ(memory[0], 0xfe);
  EXPECT_EQ(memory[1], 0xf0);  // what stands beside an element stays
  EXPECT_EQ(load_scalar(DataType::i4, memory, 1).i, -1);
  EXPECT_EQ(load_scalar(DataType::u4, memory, 1).i, 15);
  EXPECT_EQ(load_scalar(DataType::u2, memory, 0).i, 2);
  EXPECT_EQ(load_scalar(DataType::i2, memory, 0).i, -2);
}

// Each number of a small float is its own nearest one; half way between two lies the even one.
TEST(SmallFloat, EveryPatternAndWhatLiesBetween) {
  for (const DataType type : {DataType::fp8_e4m3, DataType::fp8_e5m2, DataType::fp4}) {
    SCOPED_TRACE(name_of(type));
    const SmallFloat& format = *small_float_of(type);
    const uint32_t sign = 1U << (format.bits - 1);
    double before = -1;
    for (uint32_t bits = 0; bits < sign; ++bits) {
      const double value = small_float_from_bits(format, bits);
      if (!std::isfinite(value)) continue;
      EXPECT_LT(before, value);
      EXPECT_EQ(bits_from_double(format, value), bits);
      EXPECT_EQ(bits_from_double(format, -value), bits | sign);
      if (bits > 0) {
        const double middle = before + (value - before) / 2;
        EXPECT_EQ(bits_from_double(format, middle), bits % 2 == 0 ? bits : bits - 1);
        EXPECT_EQ(bits_from_double(format, std::nextafter(middle, 1e9)), bits);
        EXPECT_EQ(bits_from_double(format, std::nextafter(middle, 0)), bits - 1);
      }
      before = value;
    }
    EXPECT_EQ(before, format.largest);
  }
  const auto cast = [](DataType type, double x) {
    return convert(Scalar::of_float(DataType::fp64, x), type).f;
  };
  EXPECT_EQ(cast(DataType::fp8_e4m3, 464), 448);
  EXPECT_TRUE(std::isnan(cast(DataType::fp8_e4m3, 464.001)));
  EXPECT_TRUE(std::isnan(cast(DataType::fp8_e4m3, -HUGE_VAL)));
  EXPECT_EQ(cast(DataType::fp8_e5m2, 61439), 57344);
  EXPECT_EQ(cast(DataType::fp8_e5m2, 61440), HUGE_VAL);
  EXPECT_EQ(cast(DataType::fp4, -HUGE_VAL), -6);
  EXPECT_EQ(cast(DataType::fp4, std::nan("")), 0);
}

TEST(TensorShape, BytesOfPackedTypes) {
  EXPECT_EQ(bytes_of(DataType::i4, 5), 3);
  EXPECT_EQ(bytes_of(DataType::u2, 5), 2);
  EXPECT_EQ(bytes_of(DataType::fp8_e5m2, 5), 5);
  EXPECT_EQ(bytes_of(DataType::fp4, 0), 0);
  EXPECT_EQ(bytes_of(DataType::fp64, 5), 40);
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(packed_sizes(DataType::i4, {3, 6}), (Sizes{3, 3}));
  EXPECT_EQ(packed_sizes(DataType::i4, {3, 5}), Sizes{8});
  EXPECT_EQ(packed_sizes(DataType::u2, {}), Sizes{1});
  EXPECT_EQ(packed_sizes(DataType::u2, {4, 0}), (Sizes{4, 0}));
  EXPECT_EQ(packed_sizes(DataType::fp8_e4m3, {3, 5}), (Sizes{3, 5}));
  EXPECT_EQ(memory_shape(DataType::fp4, {9}), dense_shape(DataType::u8, {5}));
  EXPECT_EQ(memory_shape(DataType::fp16, {9}), dense_shape(DataType::fp16, {9}));
}

TEST(TensorShape, DenseAndSpan) {
  TensorShape shape = dense_shape(DataType::fp32, {2, 3, 4});
  EXPECT_EQ(shape.dims[0], (Dim{2, 12}));
  EXPECT_EQ(shape.span_elements(), 24);
  EXPECT_EQ(dense_shape(DataType::i8, {}).element_count(), 1);
  EXPECT_EQ(to_string(DataType::i8, {2, 3}), "i8[2, 3]");
  EXPECT_FALSE(check_sizes(DataType::fp32, {int64_t{1} << 40, int64_t{1} << 40}, "input A").ok());
  EXPECT_FALSE(check_sizes(DataType::fp32, {-1}, "input A").ok());
  EXPECT_TRUE(check_sizes(DataType::fp32, {0, 5}, "input A").ok());
}

}  // namespace
}  // namespace stria
