// SPDX-License-Identifier: Apache-2.0
#include "stria/type/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/type/half.h"
#include "stria/type/small_float.h"

namespace stria {
namespace {

template <typename T>
T read(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T>
void write(void* data, int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

// Elements that share bytes: the place of one in its byte.
struct Place {
  int64_t byte;
  int shift;
  int mask;  // of the element, in the lowest bits
};
Place place_of(DataType type, int64_t index) {
  const int bits = bit_width(type), shared = 8 / bits;
  return {index / shared, static_cast<int>(index % shared) * bits, (1 << bits) - 1};
}

uint32_t read_packed(DataType type, const void* data, int64_t index) {
  const Place at = place_of(type, index);
  return static_cast<uint32_t>(read<uint8_t>(data, at.byte) >> at.shift & at.mask);
}

void write_packed(DataType type, void* data, int64_t index, uint32_t bits) {
  const Place at = place_of(type, index);
  const int others = read<uint8_t>(data, at.byte) & ~(at.mask << at.shift);
  write(data, at.byte,
        static_cast<uint8_t>(others | (static_cast<int>(bits) & at.mask) << at.shift));
}

int64_t saturate(double value, DataType to) {
  if (std::isnan(value)) return 0;
  value = std::trunc(value);
  const int bits = bit_width(to);
  if (is_unsigned_integer(to)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits))
      return static_cast<int64_t>(bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const double limit = std::ldexp(1.0, bits - 1);
  const int64_t max =
      bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  if (value >= limit) return max;
  if (value < -limit) return -max - 1;
  return static_cast<int64_t>(value);
}

}  // namespace

Scalar Scalar::of_bool(bool value) {
  Scalar out;
  out.type = DataType::boolean;
  out.i = value ? 1 : 0;
  return out;
}

Scalar Scalar::of_int(DataType type, int64_t value) {
  Scalar out;
  out.type = type;
  out.i = wrap_to(type, value);
  return out;
}

Scalar Scalar::of_float(DataType type, double value) {
  Scalar out;
  out.type = type;
  out.f = round_to(type, value);
  return out;
}

bool Scalar::truth() const { return is_float(type) ? f != 0 : i != 0; }

double Scalar::to_double() const {
  if (is_float(type)) return f;
  if (type == DataType::u64) return static_cast<double>(static_cast<uint64_t>(i));
  return static_cast<double>(i);
}

Scalar convert(const Scalar& value, DataType to) {
  if (value.type == to) return value;
  if (to == DataType::boolean) return Scalar::of_bool(value.truth());
  if (is_float(to)) {
    if (is_float(value.type)) return Scalar::of_float(to, value.f);
    // A 64-bit integer rounds once, straight to the target: through double it would round twice.
    if (to == DataType::fp32) {
      float f = value.type == DataType::u64 ? static_cast<float>(static_cast<uint64_t>(value.i))
                                            : static_cast<float>(value.i);
      return Scalar::of_float(to, f);
    }
    if (to == DataType::fp64) return Scalar::of_float(to, value.to_double());
    // The smaller types: beyond 2^53 rounding to odd first keeps the second rounding innocent.
    double f = value.to_double();
    bool exact = value.type == DataType::u64
                     ? f < 0x1p64 && static_cast<uint64_t>(f) == static_cast<uint64_t>(value.i)
                     : f < 0x1p63 && static_cast<int64_t>(f) == value.i;
    if (!exact) {
      double toward =
          value.type == DataType::u64
              ? (f >= 0x1p64 || static_cast<uint64_t>(f) > static_cast<uint64_t>(value.i)
                     ? -HUGE_VAL
                     : HUGE_VAL)
              : (f >= 0x1p63 || static_cast<int64_t>(f) > value.i ? -HUGE_VAL : HUGE_VAL);
      double other = std::nextafter(f, toward);
      int64_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      if ((bits & 1) == 0) f = other;
    }
    return Scalar::of_float(to, f);
  }
  if (is_float(value.type)) return Scalar::of_int(to, saturate(value.f, to));
  return Scalar::of_int(to, value.i);
}

double round_to(DataType type, double value) {
  switch (type) {
    case DataType::fp16: return fp16_to_double(fp16_from_double(value));
    case DataType::bf16: return bf16_to_double(bf16_from_double(value));
    case DataType::fp32: return static_cast<float>(value);
    default: break;
  }
  const SmallFloat* const format = small_float_of(type);
  return format ? small_float_from_bits(*format, bits_from_double(*format, value)) : value;
}

int64_t wrap_to(DataType type, int64_t value) {
  switch (type) {
    case DataType::boolean: return value != 0;
    case DataType::i8: return static_cast<int8_t>(value);
    case DataType::i16: return static_cast<int16_t>(value);
    case DataType::i32: return static_cast<int32_t>(value);
    case DataType::u8: return static_cast<uint8_t>(value);
    case DataType::u16: return static_cast<uint16_t>(value);
    case DataType::u32: return static_cast<uint32_t>(value);
    case DataType::u4: return value & 15;
    case DataType::u2: return value & 3;
    case DataType::i4: return ((value & 15) ^ 8) - 8;
    case DataType::i2: return ((value & 3) ^ 2) - 2;
    default: return value;
  }
}

Scalar load_scalar(DataType type, const void* data, int64_t index) {
  Scalar out;
  out.type = type;
  switch (type) {
    case DataType::boolean: out.i = read<uint8_t>(data, index) != 0; break;
    case DataType::i8: out.i = read<int8_t>(data, index); break;
    case DataType::i16: out.i = read<int16_t>(data, index); break;
    case DataType::i32: out.i = read<int32_t>(data, index); break;
    case DataType::i64: out.i = read<int64_t>(data, index); break;
    case DataType::u8: out.i = read<uint8_t>(data, index); break;
    case DataType::u16: out.i = read<uint16_t>(data, index); break;
    case DataType::u32: out.i = read<uint32_t>(data, index); break;
    case DataType::u64: out.i = static_cast<int64_t>(read<uint64_t>(data, index)); break;
    case DataType::fp16: out.f = fp16_to_double(read<uint16_t>(data, index)); break;
    case DataType::bf16: out.f = bf16_to_double(read<uint16_t>(data, index)); break;
    case DataType::fp32: out.f = read<float>(data, index); break;
    case DataType::fp64: out.f = read<double>(data, index); break;
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp4:
      out.f = small_float_from_bits(*small_float_of(type), read_packed(type, data, index));
      break;
    case DataType::i4:
    case DataType::u4:
    case DataType::i2:
    case DataType::u2: out.i = wrap_to(type, read_packed(type, data, index)); break;
  }
  return out;
}

void store_scalar(DataType type, void* data, int64_t index, const Scalar& from) {
  Scalar value = convert(from, type);
  switch (type) {
    case DataType::boolean:
    case DataType::i8:
    case DataType::u8: write(data, index, static_cast<uint8_t>(value.i)); break;
    case DataType::i16:
    case DataType::u16: write(data, index, static_cast<uint16_t>(value.i)); break;
    case DataType::i32:
    case DataType::u32: write(data, index, static_cast<uint32_t>(value.i)); break;
    case DataType::i64:
    case DataType::u64: write(data, index, value.i); break;
    case DataType::fp16: write(data, index, fp16_from_double(value.f)); break;
    case DataType::bf16: write(data, index, bf16_from_double(value.f)); break;
    case DataType::fp32: write(data, index, static_cast<float>(value.f)); break;
    case DataType::fp64: write(data, index, value.f); break;
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp4:
      write_packed(type, data, index, bits_from_double(*small_float_of(type), value.f));
      break;
    case DataType::i4:
    case DataType::u4:
    case DataType::i2:
    case DataType::u2: write_packed(type, data, index, static_cast<uint32_t>(value.i)); break;
  }
}

std::string to_string(const Scalar& value) {
  switch (value.type) {
    case DataType::boolean: return value.i ? "true" : "false";
    case DataType::u64: return fmt::format("{}", static_cast<uint64_t>(value.i));
    case DataType::fp64: return float_text(value.f);
    case DataType::fp16:
    case DataType::bf16:
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp4:
    case DataType::fp32: return float_text(static_cast<float>(value.f));
    default: return fmt::format("{}", value.i);
  }
}

}  // namespace stria
