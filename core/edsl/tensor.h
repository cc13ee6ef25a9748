// SPDX-License-Identifier: Apache-2.0
// Tensors of a program that is being written: inputs, outputs of contractions, and elementwise
// expressions, which broadcast like numpy's. They have no elements; sizes and element types are
// decided when the finished program is compiled (docs/semantics/types.md).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/edsl/contraction.h"
#include "stria/edsl/dim.h"
#include "stria/edsl/form.h"

namespace stria::edsl {

// A handle: copies are cheap and mean the same tensor, which lives as long as a copy or anything
// made from it. Reading is safe from any thread; giving one tensor its value (a contraction) or an
// attribute while another thread uses that tensor needs a lock.
class STRIA_API Tensor {
 public:
  // No tensor: what is made from it fails.
  Tensor() = default;
  // The output of a contraction that is still to be written; `sizes` in elements, outermost first,
  // none for a single number. An empty name: printing finds one.
  template <std::convertible_to<Dim>... Sizes>
  explicit Tensor(std::string name, const Sizes&... sizes)
      : Tensor(std::move(name), std::vector<Dim>{Dim(sizes)...}) {}
  Tensor(std::string name, const std::vector<Dim>& sizes);
  // A number without a type of its own: it takes that of the tensors it meets (rules T4, T5). NaN
  // and infinities fail, for Tile cannot write them.
  template <Whole T>
  Tensor(T value) : Tensor(Dim(value)) {}  // NOLINT: meant to convert
  template <std::floating_point T>
  Tensor(T value) : Tensor(of_number(static_cast<double>(value))) {}  // NOLINT: meant to convert
  Tensor(const Dim& dim);                                             // NOLINT: meant to convert

  // Its element at these coordinates, one per dimension: for contractions (contraction.h).
  template <std::convertible_to<Form>... Forms>
  Access operator()(const Forms&... forms) const {
    return at(std::vector<Form>{Form(forms)...});
  }
  Access at(std::vector<Form> forms) const;

  // Puts `[[name(argument, …)]]` before the statement that makes this tensor, and gives the tensor
  // back. `pid` names the kernels: `S.attribute("pid", {"row_sums"})`.
  Tensor attribute(std::string name, std::vector<std::string> arguments = {}) const;

  // Ok, or the first mistake in what the tensor is made from.
  Status status() const;

 private:
  friend struct Inside;
  explicit Tensor(NodePtr node);
  static Tensor of_number(double value);
  NodePtr node_;
};

// An input of the function that will list it. Without sizes every shape fits. Sizes are dimensions
// without arithmetic; one Dim in two places makes the sizes equal. With an empty list, `input("B",
// {})`, it is a single number. An empty name: printing finds one.
STRIA_API Tensor input(std::string name);
STRIA_API Tensor input(std::string name, const std::vector<Dim>& sizes);
template <std::convertible_to<Dim> First, std::convertible_to<Dim>... Sizes>
Tensor input(std::string name, const First& first, const Sizes&... sizes) {
  return input(std::move(name), std::vector<Dim>{Dim(first), Dim(sizes)...});
}

// The value under a name: a statement of its own, `E = exp(X - Top);`. For dimensions too, also
// `Half = (N + M) / 2;`. Values without a name are part of the statement that uses them, or get a
// statement with a name that printing finds if they are used twice, read by a contraction, or long.
STRIA_API Tensor named(std::string name, const Tensor& value);
STRIA_API Dim named(std::string name, const Dim& value);
template <Whole T>
Dim named(std::string name, T value) {
  return named(std::move(name), Dim(value));
}

// What `function`, named as in Tile, makes of the arguments; numbers and dimensions are arguments
// too. functions.h has each by its own name. Another number of arguments than the function takes,
// or no such function: the result is a tensor that fails.
STRIA_API Tensor call(std::string_view function, const std::vector<Tensor>& arguments);

// Elementwise, as in Tile; && and || compute both sides.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return call("add", {a, b}); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return call("sub", {a, b}); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return call("mul", {a, b}); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return call("div", {a, b}); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return call("mod", {a, b}); }
inline Tensor operator==(const Tensor& a, const Tensor& b) { return call("cmp_eq", {a, b}); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return call("cmp_ne", {a, b}); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return call("cmp_lt", {a, b}); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return call("cmp_gt", {a, b}); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return call("cmp_le", {a, b}); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return call("cmp_ge", {a, b}); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return call("bit_and", {a, b}); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return call("bit_or", {a, b}); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return call("bit_xor", {a, b}); }
inline Tensor operator<<(const Tensor& a, const Tensor& b) { return call("bit_left", {a, b}); }
inline Tensor operator>>(const Tensor& a, const Tensor& b) { return call("bit_right", {a, b}); }
inline Tensor operator&&(const Tensor& a, const Tensor& b) { return call("logical_and", {a, b}); }
inline Tensor operator||(const Tensor& a, const Tensor& b) { return call("logical_or", {a, b}); }
inline Tensor operator-(const Tensor& a) { return call("neg", {a}); }
inline Tensor operator~(const Tensor& a) { return call("bit_not", {a}); }
inline Tensor operator!(const Tensor& a) { return call("logical_not", {a}); }

}  // namespace stria::edsl
