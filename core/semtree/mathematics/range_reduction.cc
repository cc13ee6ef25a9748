// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/range_reduction.h"

#include <array>

#include "stria/semtree/mathematics/double_word.h"
namespace stria::semtree::mathematics {
namespace {

// 2 / pi behind its binary point.
constexpr std::array<uint64_t, 20> kTwoOverPi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// pi / 2 in parts of 12 bits (fp32) and 33 bits (fp64), and what is left: their products with the
// number of quarter turns are exact.
constexpr double kQuarter32[] = {0x1.92p0, 0x1.fb4p-12, 0x1.444p-24, 0x1.68cp-39, 0x1.1a6264p-54};
constexpr double kQuarter64[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                 0x1.b839a252049c1p-104};
// So many quarter turns have 12 and 20 bits.
constexpr double kLargest32 = 6400, kLargest64 = 1.6e6;

// One word of 2 / pi, with one word of zeros before the first; zero behind the last one that any
// angle needs.
Value word_of_two_over_pi(FunctionBuilder& b, int number) {
  if (number == 0) return b.unsigned_word(0);
  const size_t at = static_cast<size_t>(number - 1);
  if (!b.is_fp32()) return b.unsigned_word(at < kTwoOverPi.size() ? kTwoOverPi[at] : 0);
  return b.unsigned_word(at % 2 == 0 ? kTwoOverPi[at / 2] >> 32 : kTwoOverPi[at / 2] & 0xffffffff);
}

// `count` words of 2 / pi from word `first` on, which is below 2^steps: rows of selections, one for
// each bit of `first`.
std::vector<Value> words_from(const Value& first, int count, int steps) {
  FunctionBuilder& b = *first.builder;
  std::vector<Value> words;
  for (int i = 0; i < count + (1 << steps) - 1; ++i) words.push_back(word_of_two_over_pi(b, i));
  for (int step = steps; step-- > 0;) {
    const size_t ahead = size_t{1} << step;
    const Value bit = (first & static_cast<int64_t>(ahead)) != 0;
    for (size_t i = 0; i + ahead < words.size(); ++i)
      words[i] = select(bit, words[i + ahead], words[i]);
    words.resize(words.size() - ahead);
  }
  return words;
}

struct Product {
  Value high, low;
};

// All bits of the product of two unsigned words, by those of half their width.
Product wide_product(const Value& a, const Value& b) {
  const int half = a.builder->format().bits / 2;
  const int64_t mask = (int64_t{1} << half) - 1;
  const Value a0 = a & mask, a1 = a >> int64_t{half}, b0 = b & mask, b1 = b >> int64_t{half};
  const Value low = a0 * b0;
  const Value middle = a1 * b0 + (low >> int64_t{half});
  const Value other = a0 * b1 + (middle & mask);
  return {a1 * b1 + (middle >> int64_t{half}) + (other >> int64_t{half}), a * b};
}

// For large angles, after Payne and Hanek: an integer times those bits of 2 / pi that leave less
// than 4 quarter turns.
std::vector<Value> from_all_bits(const Value& angle) {
  FunctionBuilder& b = *angle.builder;
  const Format& format = b.format();
  const int width = format.bits;
  // angle = significand * 2^exponent, of integers.
  const Value number = as_unsigned(bits(angle));
  const Value significand =
      (number & ((int64_t{1} << format.fraction) - 1)) | (int64_t{1} << format.fraction);
  const Value exponent = (number >> int64_t{format.fraction}) - (format.bias + format.fraction);
  // The first bit of 2 / pi that counts makes 2 quarter turns of the last bit of the significand.
  // One word of zeros stands before the first.
  const Value position = exponent + static_cast<double>(width - 2);
  const Value shift = position & int64_t{width - 1};
  const std::vector<Value> words =
      words_from(position >> int64_t{b.is_fp32() ? 5 : 6}, 4, b.is_fp32() ? 3 : 5);
  std::array<Value, 3> window;
  for (size_t i = 0; i < 3; ++i)
    window[i] = (words[i] << shift) | ((words[i + 1] >> int64_t{1}) >>
                                       (b.unsigned_word(static_cast<uint64_t>(width - 1)) - shift));
  const Product last = wide_product(significand, window[2]);
  const Product middle = wide_product(significand, window[1]);
  const Value low = middle.low + last.high;
  const Value carry = select(low < last.high, b.unsigned_word(1), b.unsigned_word(0));
  const Value high = significand * window[0] + middle.high + carry;
  // high and low: two bits of quarter turns, the others behind the point. The nearest number of
  // quarter turns leaves half of one at most, on either side.
  const Value behind_high = (high << int64_t{2}) | (low >> int64_t{width - 2});
  const Value behind_low = low << int64_t{2};
  const Value above = behind_high >> int64_t{width - 1};
  const Value quadrant = (high >> int64_t{width - 2}) + above;
  const Value is_above = above != 0;
  const Value size_low = select(is_above, b.unsigned_word(0) - behind_low, behind_low);
  const Value borrow = select(behind_low == 0, b.unsigned_word(0), b.unsigned_word(1));
  const Value size_high = select(is_above, b.unsigned_word(0) - behind_high - borrow, behind_high);
  // Pieces of half a word are exact as reals. Leading zeros lose no digits.
  const int half = width / 2;
  const int64_t mask = (int64_t{1} << half) - 1;
  const double step = b.pick(0x1p-16, 0x1p-32);
  const auto real = [&](const Value& piece, double unit) {
    return b.convert(format.real, as_signed(piece)) * unit;
  };
  const Value last_digits = real(size_low >> int64_t{half}, step * step * step) +
                            real(size_low & mask, step * step * step * step);
  const DoubleWord lower = quick_sum_of(real(size_high & mask, step * step), last_digits);
  const DoubleWord size = quick_sum_of(real(size_high >> int64_t{half}, step), lower.high);
  // Times pi / 2, whose upper half and rest these are. The first product is exact.
  const Value most = upper(size.high);
  const double turn = b.pick(0x1.92p0, 0x1.921fb5p0),
               rest_of_turn = b.pick(0x1.fb5444p-12, 0x1.110b4611a6263p-26);
  const Value few = (size.high - most) + (size.low + lower.low);
  const Value rest = most * turn + (most * rest_of_turn + few * (turn + rest_of_turn));
  const Value turned = select(is_above, -rest, rest);
  return {select(is_finite(angle), turned, b.nan()), as_signed(quadrant)};
}

}  // namespace

QuarterTurn quarter_turn(const Value& angle) {
  FunctionBuilder& b = *angle.builder;
  // The sum has its unit at 2^0, so its last bits are the number of quarter turns.
  const double shift = b.pick(0x1.8p23, 0x1.8p52);
  const Value near = fma(angle, b.real(b.pick(0x1.45f306p-1, 0x1.45f306dc9c883p-1)), shift);
  const Value n = near - shift;
  Value rest = angle;
  for (double part : b.pick(kQuarter32, kQuarter64)) rest = fma(n, b.real(-part), rest);
  const Value is_large = b.pick(kLargest32, kLargest64) <= angle;
  const std::vector<Value> chosen =
      b.choose(is_large, [&] { return from_all_bits(angle); }, {rest, bits(near)});
  return {chosen[0], chosen[1]};
}

}  // namespace stria::semtree::mathematics
