// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "float_format.h"

namespace stria::precision {
namespace {

uint64_t mask_of(DataType type) { return ~uint64_t{0} >> (64 - bit_width(type)); }

std::vector<uint64_t> integer_edges(DataType type) {
  std::vector<uint64_t> out = {0, 1, 2, 3, 7, 100};
  // Around powers of two: halfway cases of the conversions to floats, and the ends of the types.
  for (int bit : {7, 8, 9, 11, 12, 15, 16, 24, 25, 31, 32, 53, 54, 63})
    for (int step : {-1, 0, 1}) out.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(step));
  out.push_back(65520);
  for (size_t i = out.size(); i-- > 0;) out.push_back(-out[i]);
  for (uint64_t& bits : out) bits &= mask_of(type);
  return out;
}

std::vector<uint64_t> float_edges(DataType type) {
  const FloatFormat format = format_of(type);
  const long double least = std::ldexp(1.0L, format.lowest - format.fraction);
  const long double normal = std::ldexp(1.0L, format.lowest);
  const long double step = std::ldexp(1.0L, -format.fraction);
  const long double largest = std::ldexp(2 - step, format.highest);
  const long double pi = 3.14159265358979323846L, ln2 = 0.693147180559945309417L;
  std::vector<long double> all = {
      0, least, 3 * least, normal - least, normal, normal + least, normal / 2, largest, largest / 2,
      std::sqrt(largest), std::numeric_limits<long double>::infinity(), 1 - step / 2, 1, 1 + step,
      2 - step, 0.5L, 1.5L, 2, 2.5L, 3, 3.5L, 10, 20, 100, 1000, pi / 4, pi / 2, 3 * pi / 4, pi,
      3 * pi / 2, 2 * pi, 100 * pi, ln2 / 2, ln2, 1.5L * ln2,
      std::ldexp(1.0L, format.fraction - 1) + 0.5L, std::ldexp(1.0L, format.fraction),
      std::ldexp(1.0L, format.fraction + 1),
      // The ends of the integers, and of exp, sinh and the logistic function in each type.
      127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x1p31L, 0x1p32L, 0x1p63L, 0x1p64L, 9.01L,
      10.398L, 11.0899L, 11.09L, 16.6L, 17.33L, 87.34L, 88.72L, 88.73L, 89.4L, 103.28L, 103.98L,
      708.4L, 709.78L, 709.79L, 710.4L, 744.45L, 745.14L,
      // Halfway between neighbours of fp16, bf16 and fp32, and just beside.
      65519.996L, 65520, 0x1p-25L, 0x1.000002p-25L, 1 + 0x1p-11L, 1 + 0x3p-11L, 1 + 0x1p-8L,
      1 + 0x3p-8L, 1 + 0x1p-24L, 1 + 0x3p-24L, 1 + 0x1p-24L + 0x1p-52L, 0x1p-150L, 0x1p-134L,
      0x1.fffffefp127L, 0x1.ffffffp127L};
  std::vector<uint64_t> out;
  for (long double x : all)
    for (long double sign : {1.0L, -1.0L}) out.push_back(bits_of(type, sign * x));
  out.push_back(bits_of(type, std::numeric_limits<long double>::quiet_NaN()));
  // A signalling NaN is a NaN like the others.
  out.push_back(bits_of(type, std::numeric_limits<long double>::infinity()) + 1);
  return out;
}

std::vector<uint64_t> edges_of(DataType type) {
  std::vector<uint64_t> out = is_float(type) ? float_edges(type) : integer_edges(type);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Operands::Operands(std::vector<DataType> types) : types_(std::move(types)) {
  for (DataType type : types_) edges_.push_back(edges_of(type));
  if (types_.size() == 1 && bit_width(types_[0]) <= 16) {
    listed_ = mask_of(types_[0]) + 1;
    edges_[0].resize(listed_);
    for (uint64_t i = 0; i < listed_; ++i) edges_[0][i] = i;
  } else {
    listed_ = edges_[0].size();
    if (types_.size() > 1) listed_ *= edges_[1].size();
  }
}

// Splitmix64.
uint64_t Operands::random() {
  state_ += 0x9e3779b97f4a7c15ull;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t Operands::drawn(DataType type, const std::vector<uint64_t>& edges) {
  const uint64_t choice = random(), bits = random();
  const uint64_t steps = (choice >> 8) % 33 - 16;
  if (choice % 4 == 0) return bits;
  if (choice % 4 == 1) return edges[bits % edges.size()] + steps;
  if (!is_float(type)) return bits >> (choice >> 58);  // of every length
  const long double uniform = static_cast<long double>(bits >> 1) * 0x1p-63L;
  const long double sign = bits & 1 ? -1 : 1;
  if (choice % 4 == 2) return bits_of(type, sign * uniform);
  const int exponent = static_cast<int>((choice >> 16) % 24) - 14;
  return bits_of(type, sign * std::ldexp(1 + uniform, exponent));
}

std::vector<std::string> Operands::next(int64_t count) {
  std::vector<std::string> out;
  for (DataType type : types_) out.emplace_back(static_cast<size_t>(count * byte_size(type)), '\0');
  for (int64_t i = 0; i < count; ++i, ++position_) {
    uint64_t first = 0;
    for (size_t operand = 0; operand < types_.size(); ++operand) {
      const std::vector<uint64_t>& edges = edges_[operand];
      uint64_t bits;
      if (position_ < listed_ && operand < 2) {
        const uint64_t number = operand == 0 ? position_ : position_ / edges_[0].size();
        bits = edges[number % edges.size()];
      } else {
        bits = drawn(types_[operand], edges);
        if (operand == 1 && random() % 8 == 0) bits = first + random() % 5 - 2;
      }
      if (operand == 0) first = bits;
      store_bits(types_[operand], out[operand].data(), i, bits);
    }
  }
  return out;
}

}  // namespace stria::precision
