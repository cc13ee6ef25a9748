// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/names.h"

#include <algorithm>

namespace stria::edsl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

bool is_word(std::string_view text) {
  if (text.empty() || !(is_capital(text[0]) || is_small(text[0]))) return false;
  if (text == "function" || text == "default" || text == "no_defract") return false;
  if (text.back() == '\'') text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || is_capital(c) || is_small(c) || c == '_';
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_capital_word(std::string_view text) { return is_word(text) && is_capital(text[0]); }
bool is_small_word(std::string_view text) { return is_word(text) && is_small(text[0]); }

std::string camel_case(std::string_view function) {
  constexpr std::string_view kPrefix = "builtin_";
  if (function.substr(0, kPrefix.size()) == kPrefix) function.remove_prefix(kPrefix.size());
  std::string out;
  bool capital = true;
  for (char c : function) {
    if (c == '\'') continue;
    if (capital && is_small(c)) c = static_cast<char>(c - 'a' + 'A');
    capital = c == '_';
    if (!capital) out += c;
  }
  return out;
}

std::string Names::invent(const std::string& base) {
  if (take(base)) return base;
  int& last = last_.try_emplace(base, 1).first->second;
  for (;;) {
    std::string name = base + (is_digit(base.back()) ? "_" : "") + std::to_string(++last);
    if (take(name)) return name;
  }
}

std::string Names::invent_letter(std::string_view letters) {
  for (char letter : letters) {
    std::string name(1, letter);
    if (take(name)) return name;
  }
  return invent(std::string(1, letters[0]));
}

std::string Names::invent_dim() { return invent_letter("MNKLPQRSTUVW"); }
std::string Names::invent_index() { return invent_letter("ijklmnpqrstuvwxyz"); }

}  // namespace stria::edsl
