// SPDX-License-Identifier: Apache-2.0
// The options of a pass of the plugin's own, as Compiler::transform gets them: one JSON object of
// numbers, truth values and texts, {"points": 8, "name": "tile"}. A pass asks for each of its
// options and then calls finish(), which refuses all others.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "stria/sdk/error.h"

namespace stria::sdk {

class PassOptions {
 public:
  // Throws Error(STRIA_INVALID_ARGUMENT), as all of it does, for what is no such object. Empty text
  // is an object without options.
  explicit PassOptions(std::string_view object) : text_(object) { read(); }

  // `otherwise` where the option is not given. Numbers from `least` to `most`.
  int64_t integer(const std::string& name, int64_t otherwise, int64_t least, int64_t most) {
    const std::string* value = find(name);
    if (value == nullptr) return otherwise;
    char* end = nullptr;
    errno = 0;
    const long long number = std::strtoll(value->c_str(), &end, 10);
    if (errno != 0 || end == value->c_str() || *end != '\0' || number < least || number > most)
      throw Error(STRIA_INVALID_ARGUMENT, "option '" + name + "': " + *value +
                                              " is no whole number from " + std::to_string(least) +
                                              " to " + std::to_string(most));
    return number;
  }
  bool flag(const std::string& name, bool otherwise) {
    const std::string* value = find(name);
    if (value == nullptr) return otherwise;
    if (*value != "true" && *value != "false")
      throw Error(STRIA_INVALID_ARGUMENT,
                  "option '" + name + "': " + *value + " is neither true nor false");
    return *value == "true";
  }
  std::string text(const std::string& name, const std::string& otherwise) {
    const std::string* value = find(name);
    if (value == nullptr) return otherwise;
    if (value->front() != '"')
      throw Error(STRIA_INVALID_ARGUMENT, "option '" + name + "': " + *value + " is no text");
    return value->substr(1, value->size() - 2);
  }

  // Refuses an option that was not asked for.
  void finish() const {
    for (const auto& [name, value] : values_) {
      if (known_.count(name) != 0) continue;
      std::string all;
      for (const auto& [other, asked] : known_) all += (all.empty() ? "" : ", ") + other;
      throw Error(STRIA_INVALID_ARGUMENT, "there is no option '" + name + "'; the pass has " +
                                              (all.empty() ? "none" : all));
    }
  }

 private:
  const std::string* find(const std::string& name) {
    known_[name] = true;
    const auto at = values_.find(name);
    return at == values_.end() ? nullptr : &at->second;
  }

  void read() {
    skip();
    if (at_ == text_.size()) return;
    expect('{');
    skip();
    if (!is('}')) {
      do {
        skip();
        const std::string quoted = value();
        if (quoted.front() != '"') refuse();
        skip();
        expect(':');
        skip();
        values_[quoted.substr(1, quoted.size() - 2)] = value();
        skip();
      } while (take(','));
    }
    expect('}');
    skip();
    if (at_ != text_.size()) refuse();
  }
  // A text with its quotes and without its escapes, or a word.
  std::string value() {
    if (is('"')) return quoted();
    const size_t begin = at_;
    while (at_ < text_.size() && (is_letter_or_digit(text_[at_]) || is('-') || is('+') || is('.')))
      ++at_;
    if (at_ == begin) refuse();
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    std::string out = "\"";
    expect('"');
    while (!is('"')) {
      if (at_ == text_.size()) refuse();
      out += take('\\') ? escaped() : text_[at_++];
    }
    expect('"');
    return out + '"';
  }
  // Behind a backslash. The host writes characters beyond ASCII as they are.
  char escaped() {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const size_t found = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (found == std::string_view::npos) refuse();
    ++at_;
    return kMeanings[found];
  }
  static bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse();
  }
  void skip() {
    while (is(' ') || is('\n') || is('\t') || is('\r')) ++at_;
  }
  [[noreturn]] void refuse() const {
    throw Error(STRIA_INVALID_ARGUMENT,
                "the options are no object of numbers, truth values and texts at character " +
                    std::to_string(at_ + 1) + ": " + std::string(text_));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::map<std::string, std::string> values_;  // as they stand in the text
  std::map<std::string, bool> known_;
};

}  // namespace stria::sdk
