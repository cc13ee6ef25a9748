// SPDX-License-Identifier: Apache-2.0
// Dimensions: integers that are known once a program is compiled for the sizes of its inputs. A Dim
// is a dimension of an input, an integer, or computed from others; its unit is elements.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stria/base/api.h"

namespace stria::edsl {

class Tensor;
struct Node;  // what the handles of this folder stand for
using NodePtr = std::shared_ptr<Node>;

// Integers of C++, but for truth values and letters.
template <typename T>
concept Whole = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

// A handle on data that do not change: copies are cheap, mean the same dimension and may be used in
// any thread and any number of functions.
class STRIA_API Dim {
 public:
  // A dimension of its own; printing finds it a name (M, N, K, …).
  Dim();
  // With a name of the user's: a capital letter, then letters, digits and '_'.
  explicit Dim(std::string name);
  // A number. One beyond 64 bits fails where it is used.
  template <Whole T>
  Dim(T value)  // NOLINT: meant to convert
      : Dim(of_number(
            static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value))) {}

  // What `function`, named as in Tile ("add", "max", …), makes of dimensions.
  static Dim call(std::string_view function, const std::vector<Dim>& arguments);
  // The number that `function` ("size") gives of tensors and dimensions.
  static Dim of_tensors(std::string_view function, const std::vector<Tensor>& arguments);

 private:
  friend struct Inside;
  explicit Dim(NodePtr node);
  static Dim of_number(int64_t value);
  static Dim of_number(uint64_t value);
  NodePtr node_;
};

// `auto [M, N, K] = dims("M", "N", "K");`
template <std::convertible_to<std::string>... Names>
std::array<Dim, sizeof...(Names)> dims(const Names&... names) {
  return {Dim(std::string(names))...};
}

// As in Tile: `/` truncates toward zero; comparisons are 1 or 0; && and || compute both sides.
inline Dim operator+(const Dim& a, const Dim& b) { return Dim::call("add", {a, b}); }
inline Dim operator-(const Dim& a, const Dim& b) { return Dim::call("sub", {a, b}); }
inline Dim operator*(const Dim& a, const Dim& b) { return Dim::call("mul", {a, b}); }
inline Dim operator/(const Dim& a, const Dim& b) { return Dim::call("div", {a, b}); }
inline Dim operator%(const Dim& a, const Dim& b) { return Dim::call("mod", {a, b}); }
inline Dim operator==(const Dim& a, const Dim& b) { return Dim::call("cmp_eq", {a, b}); }
inline Dim operator!=(const Dim& a, const Dim& b) { return Dim::call("cmp_ne", {a, b}); }
inline Dim operator<(const Dim& a, const Dim& b) { return Dim::call("cmp_lt", {a, b}); }
inline Dim operator>(const Dim& a, const Dim& b) { return Dim::call("cmp_gt", {a, b}); }
inline Dim operator<=(const Dim& a, const Dim& b) { return Dim::call("cmp_le", {a, b}); }
inline Dim operator>=(const Dim& a, const Dim& b) { return Dim::call("cmp_ge", {a, b}); }
inline Dim operator&(const Dim& a, const Dim& b) { return Dim::call("bit_and", {a, b}); }
inline Dim operator|(const Dim& a, const Dim& b) { return Dim::call("bit_or", {a, b}); }
inline Dim operator^(const Dim& a, const Dim& b) { return Dim::call("bit_xor", {a, b}); }
inline Dim operator<<(const Dim& a, const Dim& b) { return Dim::call("bit_left", {a, b}); }
inline Dim operator>>(const Dim& a, const Dim& b) { return Dim::call("bit_right", {a, b}); }
inline Dim operator&&(const Dim& a, const Dim& b) { return Dim::call("logical_and", {a, b}); }
inline Dim operator||(const Dim& a, const Dim& b) { return Dim::call("logical_or", {a, b}); }
inline Dim operator-(const Dim& a) { return Dim::call("neg", {a}); }
inline Dim operator~(const Dim& a) { return Dim::call("bit_not", {a}); }
inline Dim operator!(const Dim& a) { return Dim::call("logical_not", {a}); }

}  // namespace stria::edsl
