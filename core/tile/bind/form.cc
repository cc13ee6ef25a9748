// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/form.h"

#include <limits>
#include <numeric>

namespace stria::tile {
namespace {

Status too_large() {
  return make_error(StatusCode::out_of_range,
                    "a number in the index form is beyond the range of i64");
}

bool lowest(int64_t value) { return value == std::numeric_limits<int64_t>::min(); }

// a * x + b * y
Result<Affine> combine(const Affine& x, int64_t a, const Affine& y, int64_t b) {
  auto number = [&](int64_t u, int64_t v, int64_t* out) {
    int64_t left = 0, right = 0;
    return !__builtin_mul_overflow(a, u, &left) && !__builtin_mul_overflow(b, v, &right) &&
           !__builtin_add_overflow(left, right, out) && !lowest(*out);
  };
  int64_t value = 0;
  if (!number(x.constant(), y.constant(), &value)) return too_large();
  Affine out(value);
  // Both are sorted by name, so each term is appended.
  auto left = x.terms().begin(), right = y.terms().begin();
  while (left != x.terms().end() || right != y.terms().end()) {
    const bool from_x =
        right == y.terms().end() || (left != x.terms().end() && left->first <= right->first);
    const bool from_y =
        left == x.terms().end() || (right != y.terms().end() && right->first <= left->first);
    const std::string& name = from_x ? left->first : right->first;
    if (!number(from_x ? left->second : 0, from_y ? right->second : 0, &value)) return too_large();
    out.add_term(name, value);
    if (from_x) ++left;
    if (from_y) ++right;
  }
  return out;
}

Form reduce(Form form) {
  int64_t g = std::gcd(form.divisor, form.numerator.constant());
  for (const auto& term : form.numerator.terms()) g = std::gcd(g, term.second);
  if (g <= 1) return form;
  Affine numerator(form.numerator.constant() / g);
  for (const auto& [name, coefficient] : form.numerator.terms())
    numerator.add_term(name, coefficient / g);
  return {std::move(numerator), form.divisor / g};
}

Result<Form> sum(const Form& a, const Form& b, int64_t sign) {
  int64_t g = std::gcd(a.divisor, b.divisor);
  int64_t divisor = 0;
  if (__builtin_mul_overflow(a.divisor / g, b.divisor, &divisor)) return too_large();
  STRIA_ASSIGN(Affine numerator,
               combine(a.numerator, b.divisor / g, b.numerator, sign * (a.divisor / g)));
  return reduce({std::move(numerator), divisor});
}

}  // namespace

Result<Form> add_forms(const Form& a, const Form& b) { return sum(a, b, 1); }
Result<Form> subtract_forms(const Form& a, const Form& b) { return sum(a, b, -1); }

Result<Form> scale_form(const Form& a, int64_t factor) {
  if (lowest(factor)) return too_large();
  int64_t g = std::gcd(factor, a.divisor);
  if (g == 0) g = 1;
  STRIA_ASSIGN(Affine numerator, combine(a.numerator, factor / g, Affine(), 0));
  return reduce({std::move(numerator), a.divisor / g});
}

Result<Form> divide_form(const Form& a, int64_t divisor) {
  if (lowest(divisor)) return too_large();
  int64_t magnitude = divisor < 0 ? -divisor : divisor;
  int64_t product = 0;
  if (__builtin_mul_overflow(a.divisor, magnitude, &product)) return too_large();
  STRIA_ASSIGN(Affine numerator, combine(a.numerator, divisor < 0 ? -1 : 1, Affine(), 0));
  return reduce({std::move(numerator), product});
}

Result<Affine> below(const Form& form, int64_t bound) {
  // form < bound means numerator <= bound * divisor - 1.
  int64_t limit = 0;
  if (__builtin_mul_overflow(bound, form.divisor, &limit) ||
      __builtin_sub_overflow(limit, 1, &limit))
    return too_large();
  return combine(Affine(limit), 1, form.numerator, -1);
}

std::string to_string(const Form& form) {
  std::string text = form.numerator.to_string();
  if (form.divisor == 1) return text;
  bool sum = form.numerator.terms().size() + (form.numerator.constant() != 0 ? 1 : 0) > 1;
  return fmt::format("{}{}{}/{}", sum ? "(" : "", text, sum ? ")" : "", form.divisor);
}

}  // namespace stria::tile
