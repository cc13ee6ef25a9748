// SPDX-License-Identifier: Apache-2.0
// Names of a program that is written in C++: which ones Tile allows, and new ones.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace stria::edsl {

// A letter, then letters, digits and '_', and at most one ' at the end; no keyword.
bool is_word(std::string_view text);
// Decimal digits.
bool is_number(std::string_view text);
bool is_capital_word(std::string_view text);
bool is_small_word(std::string_view text);

// "cmp_lt" -> "CmpLt", "builtin_softmax" -> "Softmax".
std::string camel_case(std::string_view function);

// The names of one function, or of one contraction for its indices.
class Names {
 public:
  // False if it is taken.
  bool take(const std::string& name) { return taken_.insert(name).second; }
  // `base`, or with a number from 2 behind it.
  std::string invent(const std::string& base);
  // M, N, K, … and then M2, …; i, j, k, … and then i2, ….
  std::string invent_dim();
  std::string invent_index();

 private:
  std::string invent_letter(std::string_view letters);
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_;  // number behind a base
};

}  // namespace stria::edsl
