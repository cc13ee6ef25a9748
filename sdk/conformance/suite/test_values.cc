// SPDX-License-Identifier: Apache-2.0
#include "suite/test_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace stria::conformance {
namespace {

// Not one of the standard library's distributions: their numbers differ between libraries.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(uint64_t{seed} * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t next() {  // splitmix64
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  // In low..high, both inclusive.
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in 0..1
  double between(double low, double high) { return low + (high - low) * fraction(); }

 private:
  uint64_t state_;
};

struct Limits {
  double largest, smallest_normal, smallest, epsilon;
  int largest_exponent;
};
Limits limits_of(DataType type) {
  switch (type) {
    case DataType::fp16: return {65504, 0x1p-14, 0x1p-24, 0x1p-10, 15};
    case DataType::bf16: return {0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7, 127};
    case DataType::fp32:
      return {double{std::numeric_limits<float>::max()}, 0x1p-126, 0x1p-149, 0x1p-23, 127};
    default: return {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074, 0x1p-52, 1023};
  }
}

std::vector<Scalar> special_floats(DataType type) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Limits limits = limits_of(type);
  std::vector<Scalar> out;
  for (const double x :
       {0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 100.0, limits.largest, limits.smallest_normal,
        limits.smallest_normal - limits.smallest, limits.smallest, kInf, 1 + limits.epsilon})
    for (const double sign : {1.0, -1.0}) out.push_back(Scalar::of_float(type, sign * x));
  // Just above the middle of two numbers of 11 bits, of 8 and of 24: who rounds to another type on
  // the way lands on the middle, and from there on the wrong side.
  for (const double x : {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-24 + 0x1p-50})
    out.push_back(Scalar::of_float(type, x));
  out.push_back(Scalar::of_float(type, std::numeric_limits<double>::quiet_NaN()));
  return out;
}

std::vector<Scalar> edge_integers(DataType type) {
  std::vector<Scalar> out;
  if (type == DataType::boolean) return {Scalar::of_bool(false), Scalar::of_bool(true)};
  const int width = bit_width(type);
  const int64_t half =
      width == 64 ? std::numeric_limits<int64_t>::min() : int64_t{1} << (width - 1);
  const auto add = [&](int64_t value) {
    const Scalar one = Scalar::of_int(type, value);
    if (std::none_of(out.begin(), out.end(), [&](const Scalar& s) { return s.i == one.i; }))
      out.push_back(one);
  };
  for (const int64_t x :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{-1}, int64_t{-2}, half,
        wrap_to(DataType::i64, half + 1),
        wrap_to(DataType::i64, static_cast<int64_t>(static_cast<uint64_t>(half) - 1)),
        int64_t{width - 1}, int64_t{width}, int64_t{width + 1}, int64_t{-width},
        int64_t{0x5555555555555555}, int64_t{100},
        // Just above the middle of two numbers of 24 bits, and of 8: see special_floats().
        (int64_t{1} << 60) + (int64_t{1} << 36) + 1, (int64_t{1} << 24) + (int64_t{1} << 16) + 1})
    add(x);
  return out;
}

// About N(0, 1).
double normal(Dice& dice) {
  double sum = 0;
  for (int n = 0; n < 4; ++n) sum += dice.fraction() - 0.5;
  return sum * 1.7;
}

double float_value(Dice& dice, DataType type, Values values) {
  switch (values) {
    case Values::positive: return dice.between(0.05, 8);
    case Values::unit: return dice.between(-1, 1);
    case Values::above_one: return dice.between(1, 9);
    case Values::near_one: return dice.between(0.5, 1.5);
    case Values::few: return static_cast<double>(dice.pick(-2, 2));
    case Values::wide: {
      // So that most sums and products stay below the largest number.
      const int most = limits_of(type).largest_exponent * 2 / 5;
      return std::ldexp(dice.between(-2, 2), static_cast<int>(dice.pick(-most, most)));
    }
    default: return normal(dice);
  }
}

int64_t integer_value(Dice& dice, DataType type, Values values, int64_t limit) {
  const bool is_signed = is_signed_integer(type);
  switch (values) {
    case Values::positive:
    case Values::above_one: return dice.pick(1, 15);
    case Values::unit: return is_signed ? dice.pick(-1, 1) : dice.pick(0, 1);
    case Values::near_one: return is_signed ? dice.pick(-3, 3) : dice.pick(1, 3);
    case Values::few: return is_signed ? dice.pick(-2, 2) : dice.pick(0, 4);
    case Values::wide: return static_cast<int64_t>(dice.next());
    case Values::index: {
      if (dice.pick(0, 5) != 0) return dice.pick(0, std::max<int64_t>(0, limit - 1));
      if (dice.pick(0, 1) == 0) return is_signed ? dice.pick(-5, -1) : limit + dice.pick(0, 4);
      // The type's largest number is above every limit, and its lowest below 0.
      const auto edges = special_values(type);
      return edges[static_cast<size_t>(dice.pick(0, static_cast<int64_t>(edges.size()) - 1))].i;
    }
    default: return is_signed ? dice.pick(-8, 7) : dice.pick(0, 15);
  }
}

Scalar value_of(Dice& dice, DataType type, Values values, int64_t limit) {
  if (is_float(type)) return Scalar::of_float(type, float_value(dice, type, values));
  if (type == DataType::boolean) return Scalar::of_bool(dice.pick(0, 1) == 1);
  return Scalar::of_int(type, integer_value(dice, type, values, limit));
}

// A seeded state of the random numbers, word by word as rule M16 says.
uint32_t state_word(uint32_t seed, uint32_t word, uint32_t stream) {
  uint32_t h = seed + 0x9e3779b9u * (2048u * word + stream + 1u);
  h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
  return h | 16u;
}

}  // namespace

std::vector<Scalar> special_values(DataType type) {
  return is_float(type) ? special_floats(type) : edge_integers(type);
}

Result<HostTensor> make_values(DataType type, const std::vector<int64_t>& sizes, Values values,
                               uint32_t seed, int64_t limit) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, sizes, "input"));
  const int64_t count = out.element_count();
  Dice dice(seed);
  if (values == Values::special || values == Values::edge) {
    const std::vector<Scalar> all = special_values(type);
    for (int64_t i = 0; i < count; ++i)
      store_scalar(type, out.data(), i, all[static_cast<size_t>(i + seed) % all.size()]);
    return out;
  }
  for (int64_t i = 0; i < count; ++i) {
    Scalar value;
    if (values == Values::index && i < 2 && count > 4) {
      // The type's largest number, and its lowest; of one without a sign the upper bit alone.
      const uint64_t upper = uint64_t{1} << (bit_width(type) - 1);
      const uint64_t largest = is_signed_integer(type) ? upper - 1 : upper - 1 + upper;
      value = Scalar::of_int(type, static_cast<int64_t>(i == 0 ? largest : upper));
    } else if (values == Values::state)
      value = Scalar::of_int(
          type, state_word(seed, static_cast<uint32_t>(i / 2048), static_cast<uint32_t>(i % 2048)));
    else if (values == Values::numbered)
      value = convert(Scalar::of_int(DataType::i64, (i + seed) % 113), type);
    else
      value = value_of(dice, type, values, limit);
    store_scalar(type, out.data(), i, value);
  }
  return out;
}

std::optional<Values> parse_values(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Values>, 12> kNames = {{
      {"plain", Values::plain},
      {"positive", Values::positive},
      {"unit", Values::unit},
      {"above_one", Values::above_one},
      {"near_one", Values::near_one},
      {"few", Values::few},
      {"wide", Values::wide},
      {"special", Values::special},
      {"edge", Values::edge},
      {"index", Values::index},
      {"state", Values::state},
      {"numbered", Values::numbered},
  }};
  for (const auto& [known, values] : kNames)
    if (known == name) return values;
  return std::nullopt;
}

}  // namespace stria::conformance
