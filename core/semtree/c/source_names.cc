// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/c/source_names.h"

#include <cctype>

namespace stria::semtree {
namespace {

constexpr std::string_view kProgram = "v_";
constexpr std::string_view kBase = "stria_base_", kAt = "stria_at_", kTemporary = "stria_values_";
// With the longest mark before it and the longest number behind it, it is still short enough.
constexpr size_t kLongestName = 40;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// Letters, digits and single underscores between them, behind an underscore: C++ keeps names with
// two in a row for itself. What is left of "'" is an underscore too.
std::string plain(std::string_view name, size_t longest) {
  std::string out;
  for (char c : name) {
    if (!is_letter(c) && !is_digit(c)) c = '_';
    if (c == '_' && (out.empty() || out.back() == '_')) continue;
    if (out.size() == longest) break;
    out += c;
  }
  return out;
}

bool is_of_kernel(std::string_view word) {
  size_t digits = 1;
  while (digits < word.size() && is_digit(word[digits])) ++digits;
  return word[0] == 'k' && digits > 1 && (digits == word.size() || word[digits] == '_');
}

bool is_taken(std::string_view word) {
  for (std::string_view mark : {kProgram, kBase, kAt, kTemporary})
    if (word.starts_with(mark)) return true;
  return is_of_kernel(word);
}

// The first identifier in `text` that others may use; "" if there is none.
std::string_view taken_word(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (is_taken(word)) return word;
    at = end;
  }
  return "";
}

}  // namespace

std::string SourceNames::of_program(std::string_view name) {
  const std::string base = std::string(kProgram) + plain(name, kLongestName);
  std::string out = base;
  for (int& number = next_[base]; !taken_.insert(out).second;)
    out = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", ++number);
  return out;
}

std::string SourceNames::of_temporary() { return fmt::format("{}{}", kTemporary, temporaries_++); }

std::string own_name(std::string_view what, std::string_view of) {
  return fmt::format("stria_{}_{}", what, of.substr(kProgram.size()));
}

std::string kernel_symbol(size_t number, std::string_view name) {
  std::string out = fmt::format("k{}", number);
  if (name.empty()) return out;
  out += "_";
  return out + plain(name, kLongestIdentifier - out.size());
}

Status check_names(const Dialect& dialect) {
  std::vector<std::string_view> texts = {
      dialect.kernel,    dialect.pointer_space, dialect.no_alias,       dialect.point,
      dialect.lane,      dialect.shared_space,  dialect.shared_aligned, dialect.preamble,
      dialect.lane_mask, dialect.first_point,   dialect.end_point,      dialect.aligned};
  for (const std::string& text : dialect.group) texts.push_back(text);
  for (const auto* names : {&dialect.types, &dialect.memory_types, &dialect.lane_types})
    for (const auto& [type, name] : *names) texts.push_back(name);
  for (const auto* spellings : {&dialect.spellings, &dialect.helpers})
    for (const auto& [key, spelling] : *spellings) texts.push_back(spelling.text);
  for (std::string_view text : texts)
    if (const std::string_view word = taken_word(text); !word.empty())
      return internal_error("the dialect's own text has the name '{}', which a program may use",
                            word);
  return {};
}

std::string comment_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    // "\" and the trigraph "??/" go on behind the end of the line.
    const bool harmless = c >= ' ' && c <= '~' && c != '\\' && c != '?';
    out += harmless ? c : '.';
  }
  return out;
}

}  // namespace stria::semtree
