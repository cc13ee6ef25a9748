// SPDX-License-Identifier: Apache-2.0
// Compiled with -ffp-contract=off: a fused multiply-add would change the last bits.
#include "stria/tensor_io/random.h"

#include <bit>
#include <cmath>

#include "stria/type/half.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t word(uint64_t key, int64_t i) {
  return mix(key + (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u);
}

// ln u for 0 < u <= 1: u = m * 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m-1)/(m+1)).
double natural_log(double u) {
  uint64_t bits = std::bit_cast<uint64_t>(u);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  double s = (m - 1) / (m + 1);
  double q = s * s;
  double sum = 1.0 / 21;
  for (int k = 19; k >= 1; k -= 2) sum = sum * q + 1.0 / k;
  return static_cast<double>(exponent) * 0.6931471805599453 + 2 * s * sum;
}

// Ratios of neighbouring Taylor coefficients, highest first: 1/(16*17) … 1/(2*3) for the sine,
// 1/(16*15) … 1/(2*1) for the cosine.
struct Series {
  double sine[8], cosine[8];
  constexpr Series() : sine(), cosine() {
    for (int i = 0; i < 8; ++i) {
      const int k = 16 - 2 * i;
      sine[i] = 1.0 / (k * (k + 1));
      cosine[i] = 1.0 / (k * (k - 1));
    }
  }
};
constexpr Series kSeries;

struct Direction {
  double cosine, sine;
};

// cos and sin of 2 pi v for 0 <= v < 1: reduced to [-pi/4, pi/4], then Taylor to x^17 and x^16.
Direction direction(double v) {
  const int quarter = static_cast<int>(4 * v + 0.5);
  const double x = (4 * v - quarter) * 1.5707963267948966;
  const double q = x * x;
  double sine = 1, cosine = 1;
  for (int i = 0; i < 8; ++i) {
    sine = 1 - sine * q * kSeries.sine[i];
    cosine = 1 - cosine * q * kSeries.cosine[i];
  }
  sine *= x;
  switch (quarter & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

template <typename T, typename Round>
void fill_normal(T* out, int64_t count, uint64_t key, Round round) {
  for (int64_t i = 0; i < count; i += 2) {
    double u = static_cast<double>((word(key, i) >> 11) + 1) * 0x1p-53;
    double v = static_cast<double>(word(key, i + 1) >> 11) * 0x1p-53;
    double radius = std::sqrt(-2 * natural_log(u));
    Direction d = direction(v);
    out[i] = round(radius * d.cosine);
    if (i + 1 < count) out[i + 1] = round(radius * d.sine);
  }
}

template <typename T>
void fill_integers(std::byte* data, int64_t count, uint64_t key, int64_t lowest) {
  T* out = reinterpret_cast<T*>(data);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(static_cast<int64_t>(word(key, i) >> 60) + lowest);
}

}  // namespace

Result<HostTensor> random_tensor(DataType type, const std::vector<int64_t>& sizes, uint64_t seed,
                                 std::string_view what) {
  STRIA_ASSIGN(HostTensor tensor, HostTensor::create(type, sizes, what));
  const int64_t count = tensor.element_count();
  const uint64_t key = mix(seed);
  std::byte* data = tensor.data();
  switch (type) {
    case DataType::boolean:
      for (int64_t i = 0; i < count; ++i) data[i] = static_cast<std::byte>(word(key, i) >> 63);
      break;
    case DataType::i8: fill_integers<int8_t>(data, count, key, -8); break;
    case DataType::i16: fill_integers<int16_t>(data, count, key, -8); break;
    case DataType::i32: fill_integers<int32_t>(data, count, key, -8); break;
    case DataType::i64: fill_integers<int64_t>(data, count, key, -8); break;
    case DataType::u8: fill_integers<uint8_t>(data, count, key, 0); break;
    case DataType::u16: fill_integers<uint16_t>(data, count, key, 0); break;
    case DataType::u32: fill_integers<uint32_t>(data, count, key, 0); break;
    case DataType::u64: fill_integers<uint64_t>(data, count, key, 0); break;
    case DataType::fp16:
      fill_normal(reinterpret_cast<uint16_t*>(data), count, key, fp16_from_double);
      break;
    case DataType::bf16:
      fill_normal(reinterpret_cast<uint16_t*>(data), count, key, bf16_from_double);
      break;
    case DataType::fp32:
      fill_normal(reinterpret_cast<float*>(data), count, key,
                  [](double value) { return static_cast<float>(value); });
      break;
    case DataType::fp64:
      fill_normal(reinterpret_cast<double*>(data), count, key, [](double value) { return value; });
      break;
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp4: {
      std::vector<double> values(static_cast<size_t>(count));
      fill_normal(values.data(), count, key, [](double value) { return value; });
      for (int64_t i = 0; i < count; ++i)
        store_scalar(type, data, i,
                     Scalar::of_float(DataType::fp64, values[static_cast<size_t>(i)]));
      break;
    }
    case DataType::i4:
    case DataType::u4:
    case DataType::i2:
    case DataType::u2: {
      // Those of 2 bits have the lowest bits of those of 4.
      const int64_t lowest = type == DataType::i4 ? -8 : 0;
      for (int64_t i = 0; i < count; ++i) {
        const auto drawn = static_cast<int64_t>(word(key, i) >> 60);
        store_scalar(type, data, i, Scalar::of_int(DataType::i64, drawn + lowest));
      }
      break;
    }
  }
  return tensor;
}

}  // namespace stria
