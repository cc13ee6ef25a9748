// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace stria::hal {
namespace {

constexpr int kRounds = 64;

// The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the
// cube roots of the first 64 (FIPS 180-4, 5.3.3 and 4.2.2).
struct Constants {
  std::array<uint32_t, 8> start;
  std::array<uint32_t, kRounds> round;
};

uint32_t fraction_bits(long double value) {
  return static_cast<uint32_t>((value - std::floor(value)) * 4294967296.0L);
}

Constants make_constants() {
  Constants constants{};
  int found = 0;
  for (int candidate = 2; found < kRounds; ++candidate) {
    bool prime = true;
    for (int divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    if (found < 8)
      constants.start[found] = fraction_bits(std::sqrt(static_cast<long double>(candidate)));
    constants.round[found++] = fraction_bits(std::cbrt(static_cast<long double>(candidate)));
  }
  return constants;
}

void add_block(const Constants& constants, const unsigned char* block,
               std::array<uint32_t, 8>& hash) {
  std::array<uint32_t, kRounds> w;
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | uint32_t{block[4 * i + 3]};
  for (int i = 16; i < kRounds; ++i) {
    uint32_t a = w[i - 15], b = w[i - 2];
    uint32_t small0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    uint32_t small1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    w[i] = w[i - 16] + small0 + w[i - 7] + small1;
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (int i = 0; i < kRounds; ++i) {
    uint32_t big1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t choose = (e & f) ^ (~e & g);
    uint32_t first = h + big1 + choose + constants.round[i] + w[i];
    uint32_t big0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + big0 + majority;
  }
  const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) hash[i] += sum[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const Constants constants = make_constants();
  std::array<uint32_t, 8> hash = constants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t whole = bytes.size() / 64 * 64;
  for (size_t i = 0; i < whole; i += 64) add_block(constants, data + i, hash);
  // The rest, a one bit, zeros, and the length in bits as 64 big-endian bits.
  std::string tail(bytes.substr(whole));
  tail.push_back(static_cast<char>(0x80));
  while (tail.size() % 64 != 56) tail.push_back(0);
  for (int i = 7; i >= 0; --i)
    tail.push_back(static_cast<char>(static_cast<uint64_t>(bytes.size()) * 8 >> (8 * i)));
  for (size_t i = 0; i < tail.size(); i += 64)
    add_block(constants, reinterpret_cast<const unsigned char*>(tail.data()) + i, hash);
  std::string text;
  for (uint32_t word : hash) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace stria::hal
