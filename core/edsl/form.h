// SPDX-License-Identifier: Apache-2.0
// Index variables of contractions, and the forms made of them that say which element is meant.
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/edsl/dim.h"

namespace stria::edsl {

// An index of contractions: it runs over all integers for which every access of the contraction
// lies inside its tensor and every constraint holds. The same Index may serve any number of
// contractions, in each of which it stands for itself. A handle on data that do not change, safe
// from any thread.
class STRIA_API Index {
 public:
  // Printing names it by its place in the contraction (i, j, k, …).
  Index();
  // With a name of the user's: a small letter, then letters, digits and '_'.
  explicit Index(std::string name);

 private:
  friend struct Inside;
  NodePtr node_;
};

// `auto [i, j, k] = indices("i", "j", "k");`
template <std::convertible_to<std::string>... Names>
std::array<Index, sizeof...(Names)> indices(const Names&... names) {
  return {Index(std::string(names))...};
}

// A coordinate: sums, differences, products and quotients of indices, dimensions and integers, such
// as `2 * i + j - 1`; its unit is elements. Of a quotient only the index values count for which it
// is an integer (rule M17). A handle on data that do not change, safe from any thread.
class STRIA_API Form {
 public:
  Form(const Index& index);  // NOLINT: meant to convert
  Form(const Dim& dim);      // NOLINT: meant to convert
  template <Whole T>
  Form(T value) : Form(Dim(value)) {}  // NOLINT: meant to convert

  // What `function`, named as in Tile (add, sub, mul, div, neg), makes of forms.
  static Form call(std::string_view function, const std::vector<Form>& arguments);

 private:
  friend struct Inside;
  explicit Form(NodePtr node);
  NodePtr node_;
};

inline Form operator+(const Form& a, const Form& b) { return Form::call("add", {a, b}); }
inline Form operator-(const Form& a, const Form& b) { return Form::call("sub", {a, b}); }
inline Form operator*(const Form& a, const Form& b) { return Form::call("mul", {a, b}); }
inline Form operator/(const Form& a, const Form& b) { return Form::call("div", {a, b}); }
inline Form operator-(const Form& a) { return Form::call("neg", {a}); }

// 0 <= form < bound, in elements.
struct Constraint {
  Form form;
  Dim bound;
};

// `i - k < N`, which stands for 0 <= i - k < N. There is no other comparison of forms.
template <typename T>
  requires std::same_as<T, Form> || std::same_as<T, Index>
Constraint operator<(const T& form, const Dim& bound) {
  return {form, bound};
}

}  // namespace stria::edsl
