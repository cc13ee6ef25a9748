// SPDX-License-Identifier: Apache-2.0
// Code generators that take one thing for another: the program that is interpreted is not the one
// that was to be built.
#include "wrong_object.h"

namespace stria::wrong {
namespace {

struct Misreading {
  std::string_view from, to;
};
Misreading& misreading() {
  static Misreading one;
  return one;
}

std::string replaced(std::string stripe) {
  const auto [from, to] = misreading();
  for (size_t at = 0; (at = stripe.find(from, at)) != std::string::npos; at += to.size())
    stripe.replace(at, from.size(), to);
  return stripe;
}

// A template's argument.
template <size_t kSize>
struct Text {
  constexpr Text(const char (&text)[kSize]) { std::copy_n(text, kSize, data); }  // NOLINT
  constexpr std::string_view view() const { return {data, kSize - 1}; }
  char data[kSize];
};

template <Text kFrom, Text kTo>
void plant_misreading(WrongObject&) {
  misreading() = {kFrom.view(), kTo.view()};
  hooks().misread = replaced;
}

// Every constraint of every block: "k - m >= 0".
std::string without_constraints(std::string stripe) {
  std::string out;
  for (size_t at = 0; at < stripe.size();) {
    const size_t end = std::min(stripe.find('\n', at), stripe.size());
    const std::string_view line = std::string_view(stripe).substr(at, end - at);
    if (line.size() < 5 || line.substr(line.size() - 5) != " >= 0") out.append(line).append("\n");
    at = end + 1;
  }
  return out;
}

constexpr Mistake kAll[] = {
    {"misread.add_as_sub", plant_misreading<"= add.", "= sub.">},
    {"misread.sub_as_add", plant_misreading<"= sub.", "= add.">},
    {"misread.mul_as_add", plant_misreading<"= mul.", "= add.">},
    {"misread.div_as_mul", plant_misreading<"= div.", "= mul.">},
    {"misread.mod_as_div", plant_misreading<"= mod.", "= div.">},
    {"misread.neg_as_ident", plant_misreading<"= neg.", "= ident.">},
    {"misread.abs_as_ident", plant_misreading<"= abs.", "= ident.">},
    {"misread.min_as_max", plant_misreading<"= min.", "= max.">},
    {"misread.max_as_min", plant_misreading<"= max.", "= min.">},
    {"misread.less_as_less_or_equal", plant_misreading<"= cmp_lt.", "= cmp_le.">},
    {"misread.greater_or_equal_as_greater", plant_misreading<"= cmp_ge.", "= cmp_gt.">},
    {"misread.equal_as_unequal", plant_misreading<"= cmp_eq.", "= cmp_ne.">},
    {"misread.floor_as_ceil", plant_misreading<"= floor.", "= ceil.">},
    {"misread.round_as_floor", plant_misreading<"= round.", "= floor.">},
    {"misread.and_as_or", plant_misreading<"= bit_and.", "= bit_or.">},
    {"misread.xor_as_or", plant_misreading<"= bit_xor.", "= bit_or.">},
    {"misread.left_as_right", plant_misreading<"= bit_left.", "= bit_right.">},
    {"misread.exp_as_ident", plant_misreading<"= exp.", "= ident.">},
    {"misread.sqrt_as_ident", plant_misreading<"= sqrt.", "= ident.">},
    {"misread.sin_as_cos", plant_misreading<"= sin.", "= cos.">},
    {"misread.tanh_as_sigmoid", plant_misreading<"= tanh.", "= sigmoid.">},
    {"misread.u8_compared_as_i8", plant_misreading<"= cmp_lt.u8(", "= cmp_lt.i8(">},
    {"misread.u32_divided_as_i32", plant_misreading<"= div.u32(", "= div.i32(">},
    {"misread.u32_shifted_as_i32", plant_misreading<"= bit_right.u32(", "= bit_right.i32(">},
    {"misread.fp64_in_fp32", plant_misreading<".fp64(", ".fp32(">},
    {"misread.i64_in_i32", plant_misreading<".i64(", ".i32(">},
    {"misread.aggregation_max_as_min", plant_misreading<":max.", ":min.">},
    {"misread.aggregation_add_as_max", plant_misreading<":add.", ":max.">},
    {"misread.no_constraints", [](WrongObject&) { hooks().misread = without_constraints; }},
};

}  // namespace

std::span<const Mistake> misread_mistakes() { return kAll; }

}  // namespace stria::wrong
