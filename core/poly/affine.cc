// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/affine.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stria {
namespace {

using Wide = __int128;

int64_t clamp_wide(Wide value) {
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  constexpr int64_t min = std::numeric_limits<int64_t>::min();
  return value > max ? max : value < min ? min : static_cast<int64_t>(value);
}

auto find_term(std::vector<Affine::Term>& terms, std::string_view name) {
  return std::lower_bound(
      terms.begin(), terms.end(), name,
      [](const Affine::Term& term, std::string_view key) { return term.first < key; });
}

}  // namespace

Affine Affine::of(std::string name, int64_t coefficient) {
  Affine out;
  if (coefficient != 0) out.terms_.emplace_back(std::move(name), coefficient);
  return out;
}

int64_t Affine::coefficient(std::string_view name) const {
  for (const Term& term : terms_)
    if (term.first == name) return term.second;
  return 0;
}

bool Affine::is_single_index(std::string* name) const {
  if (constant_ != 0 || terms_.size() != 1 || terms_[0].second != 1) return false;
  if (name) *name = terms_[0].first;
  return true;
}

void Affine::add_term(std::string_view name, int64_t coefficient) {
  if (coefficient == 0) return;
  auto at = find_term(terms_, name);
  if (at == terms_.end() || at->first != name) {
    terms_.emplace(at, std::string(name), coefficient);
    return;
  }
  at->second += coefficient;
  if (at->second == 0) terms_.erase(at);
}

Affine& Affine::operator+=(const Affine& other) {
  constant_ += other.constant_;
  if (this == &other) {
    for (Term& term : terms_) term.second *= 2;
    return *this;
  }
  for (const Term& term : other.terms_) add_term(term.first, term.second);
  return *this;
}

Affine& Affine::operator-=(const Affine& other) {
  if (this == &other) return *this = Affine();
  constant_ -= other.constant_;
  for (const Term& term : other.terms_) add_term(term.first, -term.second);
  return *this;
}

int64_t Affine::common_divisor(int64_t n) const {
  n = std::gcd(n, constant_);
  for (const auto& [name, coefficient] : terms_) n = std::gcd(n, coefficient);
  return n;
}

Affine& Affine::operator/=(int64_t divisor) {
  STRIA_CHECK(divisor != 0 && common_divisor() % divisor == 0, "{} does not divide {}", divisor,
              to_string());
  constant_ /= divisor;
  for (Term& term : terms_) term.second /= divisor;
  return *this;
}

Affine& Affine::operator*=(int64_t factor) {
  constant_ *= factor;
  if (factor == 0) terms_.clear();
  for (Term& term : terms_) term.second *= factor;
  return *this;
}

Affine Affine::substitute(const std::map<std::string, Affine>& values) const {
  Affine out(constant_);
  for (const Term& term : terms_) {
    auto at = values.find(term.first);
    if (at == values.end()) {
      out.add_term(term.first, term.second);
    } else {
      out += at->second * term.second;
    }
  }
  return out;
}

Affine Affine::rename(const std::function<std::string(const std::string&)>& map) const {
  Affine out(constant_);
  for (const Term& term : terms_) out.add_term(map(term.first), term.second);
  return out;
}

int64_t Affine::evaluate(const std::map<std::string, int64_t>& point) const {
  int64_t value = constant_;
  for (const Term& term : terms_) {
    auto at = point.find(term.first);
    STRIA_CHECK(at != point.end(), "no value for index '{}'", term.first);
    value += term.second * at->second;
  }
  return value;
}

std::string Affine::to_string() const {
  if (terms_.empty()) return fmt::format("{}", constant_);
  std::string out;
  if (constant_ != 0) out = fmt::format("{}", constant_);
  for (const Term& term : terms_) {
    // The magnitude of INT64_MIN does not fit in int64.
    uint64_t magnitude =
        term.second < 0 ? -static_cast<uint64_t>(term.second) : static_cast<uint64_t>(term.second);
    if (out.empty()) {
      out = term.second < 0 ? "-" : "";
    } else {
      out += term.second < 0 ? " - " : " + ";
    }
    if (magnitude != 1) out += fmt::format("{}*", magnitude);
    out += term.first;
  }
  return out;
}

Interval interval_of(const Affine& form, const std::map<std::string, Interval>& box) {
  Wide lower = form.constant();
  Wide upper = form.constant();
  for (const Affine::Term& term : form.terms()) {
    auto at = box.find(term.first);
    STRIA_CHECK(at != box.end(), "no range for index '{}'", term.first);
    Wide a = static_cast<Wide>(term.second) * at->second.lower;
    Wide b = static_cast<Wide>(term.second) * at->second.upper;
    // Beyond even these 127 bits nothing is known.
    if (__builtin_add_overflow(lower, std::min(a, b), &lower) ||
        __builtin_add_overflow(upper, std::max(a, b), &upper))
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  return {clamp_wide(lower), clamp_wide(upper)};
}

int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && a < 0 ? q - 1 : q;
}

int64_t ceil_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && a > 0 ? q + 1 : q;
}

}  // namespace stria
