// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/syntax/lexer.h"

#include <charconv>
#include <cmath>

#include "stria/base/text.h"

namespace stria::tile {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_digit(c) || is_upper(c) || is_lower(c) || c == '_'; }

// The double brackets of attributes are two signs each.
constexpr std::string_view kLongSigns[] = {"->", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||"};
constexpr std::string_view kSigns = "()[]{},;:?+-*/%<>=&|^~!";

// Characters of the sign that `text` begins with; 0: none.
size_t sign_length(std::string_view text) {
  if (kSigns.find(text[0]) == std::string_view::npos) return 0;
  const bool is_long = text.size() > 1 && kSigns.find(text[1]) != std::string_view::npos;
  if (is_long)
    for (std::string_view sign : kLongSigns)
      if (text.starts_with(sign)) return sign.size();
  return 1;
}

class Lexer {
 public:
  Lexer(const SourceText& source, Diagnostics& diagnostics)
      : text_(source.text), diagnostics_(diagnostics), at_(text_begin(source.text)) {}

  TokenList run() {
    out_.tokens.reserve(text_.size() / 3);  // about as many as there are
    while (skip_blanks()) token();
    add(TokenKind::end, text_.size(), text_.size());
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void error(size_t begin, size_t end, std::string message) {
    if (diagnostics_.error_count() < kMaxErrors)
      diagnostics_.error({begin, end}, std::move(message));
  }

  Token& add(TokenKind kind, size_t begin, size_t end) {
    Token token;
    token.kind = kind;
    token.span = {begin, end};
    token.text = text_.substr(begin, end - begin);
    token.blank_before = blank_before_;
    token.blank_after_comments = blank_after_comments_;
    blank_before_ = blank_after_comments_ = false;
    fresh_line_ = false;
    out_.tokens.push_back(token);
    return out_.tokens.back();
  }

  // False at the end of the text.
  bool skip_blanks() {
    int newlines = 0;
    bool commented = false;  // by a line of its own
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') {
        if (++newlines > 1 && !commented && !out_.tokens.empty()) blank_before_ = true;
        fresh_line_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '#' || (c == '/' && peek(1) == '/')) {
        size_t begin = at_ + (c == '#' ? 1 : 2);
        size_t end = text_.find('\n', at_);
        if (end == std::string_view::npos) end = text_.size();
        Comment comment;
        comment.token = out_.tokens.size();
        comment.own_line = fresh_line_ || out_.tokens.empty();
        comment.blank_before = commented && newlines > 1;
        commented |= comment.own_line;
        comment.text = std::string(trim(text_.substr(begin, end - begin)));
        out_.comments.push_back(std::move(comment));
        at_ = end;
        newlines = 0;
      } else {
        blank_after_comments_ = commented && newlines > 1;
        return true;
      }
    }
    return false;
  }

  void token() {
    char c = peek();
    if (is_upper(c) || is_lower(c)) return word();
    if (is_digit(c)) return number();
    if (c == '.' && is_digit(peek(1))) {
      size_t begin = at_++;
      while (is_word(peek())) ++at_;
      error(begin, at_,
            fmt::format("a number begins with a digit: write '0{}'",
                        text_.substr(begin, at_ - begin)));
      add(TokenKind::invalid, begin, at_);
      return;
    }
    const size_t length = sign_length(text_.substr(at_));
    if (length == 0) return foreign();
    add(TokenKind::sign, at_, at_ + length);
    at_ += length;
  }

  void word() {
    size_t begin = at_;
    while (is_word(peek())) ++at_;
    if (peek() == '\'') ++at_;
    std::string_view text = text_.substr(begin, at_ - begin);
    TokenKind kind = is_upper(text[0]) ? TokenKind::name : TokenKind::index;
    if (text == "function" || text == "default" || text == "no_defract") kind = TokenKind::keyword;
    add(kind, begin, at_);
  }

  void number() {
    size_t begin = at_;
    bool floating = false;
    while (is_digit(peek())) ++at_;
    // Else 0x2 in an index form would be the product 0 * x2.
    if (at_ - begin == 1 && text_[begin] == '0' && (peek() == 'x' || peek() == 'X')) {
      while (is_word(peek())) ++at_;
      error(begin, at_,
            fmt::format(
                "'{}' is no number: there are decimal numbers only, and a product of 0 needs '*'",
                text_.substr(begin, at_ - begin)));
      add(TokenKind::invalid, begin, at_);
      return;
    }
    if (peek() == '.') {
      floating = true;
      ++at_;
      if (!is_digit(peek())) {
        error(begin, at_,
              fmt::format("a digit must follow the decimal point: write '{}0'",
                          text_.substr(begin, at_ - begin)));
        add(TokenKind::invalid, begin, at_);
        return;
      }
      while (is_digit(peek())) ++at_;
    }
    // "2 e" is a product in an index form: an exponent needs a digit.
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      floating = true;
      at_ += 2;
      while (is_digit(peek())) ++at_;
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    if (floating) {
      double value = 0;
      auto [end, code] = std::from_chars(first, last, value);
      if (code != std::errc() || end != last || !std::isfinite(value)) {
        error(begin, at_,
              fmt::format("'{}' is beyond the range of fp64", text_.substr(begin, at_ - begin)));
        add(TokenKind::invalid, begin, at_);
        return;
      }
      add(TokenKind::floating, begin, at_).floating = value;
      return;
    }
    int64_t value = 0;
    auto [end, code] = std::from_chars(first, last, value);
    if (code != std::errc() || end != last) {
      error(begin, at_,
            fmt::format("integer '{}' is beyond 9223372036854775807, the largest i64",
                        text_.substr(begin, at_ - begin)));
      add(TokenKind::invalid, begin, at_);
      return;
    }
    add(TokenKind::integer, begin, at_).integer = value;
  }

  void foreign() {
    size_t begin = at_++;
    unsigned char c = static_cast<unsigned char>(text_[begin]);
    // One message for a whole UTF-8 character.
    if (c >= 0x80)
      while (at_ < text_.size() && at_ - begin < 4 &&
             (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80)
        ++at_;
    std::string_view shown = text_.substr(begin, at_ - begin);
    if (c == '_') {
      error(begin, at_, "a name begins with a letter, not with '_'");
      while (is_word(peek())) ++at_;
    } else if (c == '$') {
      error(begin, at_, "'$' does not belong to Tile; a name begins with a letter");
    } else if (c < 0x20 || c == 0x7f) {
      error(begin, at_, fmt::format("character 0x{:02x} does not belong to Tile", c));
    } else if (shown == "\xE2\x88\x92" || shown == "\xE2\x80\x93") {
      error(begin, at_, fmt::format("'{}' is a typographic minus sign: write '-'", shown));
    } else {
      error(begin, at_, fmt::format("'{}' does not belong to Tile", shown));
    }
    add(TokenKind::invalid, begin, at_);
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  size_t at_;
  bool blank_before_ = false;
  bool blank_after_comments_ = false;
  bool fresh_line_ = true;  // nothing but blanks so far on this line
  TokenList out_;
};

}  // namespace

TokenList lex(const SourceText& source, Diagnostics& diagnostics) {
  return Lexer(source, diagnostics).run();
}

}  // namespace stria::tile
