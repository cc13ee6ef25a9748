// SPDX-License-Identifier: Apache-2.0
// An integer-linear form over named indices: constant + sum of coefficient * name. Plain value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/status.h"

namespace stria {

class Affine {
 public:
  using Term = std::pair<std::string, int64_t>;

  Affine() = default;
  Affine(int64_t constant) : constant_(constant) {}  // NOLINT: a number is an affine form
  // coefficient * name
  static Affine of(std::string name, int64_t coefficient = 1);

  int64_t constant() const { return constant_; }
  void set_constant(int64_t constant) { constant_ = constant; }
  // Sorted by name, no zero coefficients.
  const std::vector<Term>& terms() const { return terms_; }
  // 0 if the name does not occur.
  int64_t coefficient(std::string_view name) const;
  bool is_constant() const { return terms_.empty(); }
  bool uses(std::string_view name) const { return coefficient(name) != 0; }
  // True for exactly 1 * name + 0; then *name (if given) is set.
  bool is_single_index(std::string* name = nullptr) const;

  void add_term(std::string_view name, int64_t coefficient);
  Affine& operator+=(const Affine& other);
  Affine& operator-=(const Affine& other);
  Affine& operator*=(int64_t factor);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator-(Affine a, const Affine& b) { return a -= b; }
  friend Affine operator*(Affine a, int64_t factor) { return a *= factor; }
  friend Affine operator-(Affine a) { return a *= -1; }
  // The largest number that divides the constant, all coefficients and `n`; 0 if all are 0.
  int64_t common_divisor(int64_t n = 0) const;
  // `divisor` divides the constant and all coefficients.
  Affine& operator/=(int64_t divisor);
  friend Affine operator/(Affine a, int64_t divisor) { return a /= divisor; }
  bool operator==(const Affine&) const = default;

  // Each name that `values` has is replaced by its form; the others stay.
  Affine substitute(const std::map<std::string, Affine>& values) const;
  Affine rename(const std::function<std::string(const std::string&)>& map) const;
  // Value at a point; a name that `point` lacks is a broken assumption.
  int64_t evaluate(const std::map<std::string, int64_t>& point) const;

  // Constant first, then terms in name order: "0", "-1 + kx + x", "1024 - kx - x", "3*x + 2*y".
  std::string to_string() const;

 private:
  int64_t constant_ = 0;
  std::vector<Term> terms_;
};

// Inclusive integer interval; empty if lower > upper.
struct Interval {
  int64_t lower = 0;
  int64_t upper = -1;
  bool empty() const { return lower > upper; }
  bool operator==(const Interval&) const = default;
};

// Range of `form` over the box (name -> inclusive interval). Saturates at the int64 limits.
// A name that the box lacks is a broken assumption.
Interval interval_of(const Affine& form, const std::map<std::string, Interval>& box);

int64_t floor_div(int64_t a, int64_t b);  // b > 0
int64_t ceil_div(int64_t a, int64_t b);   // b > 0

}  // namespace stria
