// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/text/lexer.h"

#include "stria/base/text.h"

namespace stria::stripe {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
// Names of Tile may end with a quote, and names made from them have it within.
bool is_inner(char c) { return is_word(c) || c == '\''; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Lexer {
 public:
  Lexer(const SourceText& source, Diagnostics& diagnostics)
      : text_(source.text), diagnostics_(diagnostics), at_(text_begin(source.text)) {}

  TokenList run() {
    while (true) {
      while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) {
        if (text_[at_] == '\n') line_start_ = true;
        ++at_;
      }
      if (at_ >= text_.size() || diagnostics_.error_count() >= kMaxErrors) break;
      next();
      line_start_ = false;
    }
    push(TokenKind::end, at_, at_);
    return std::move(list_);
  }

 private:
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void push(TokenKind kind, size_t begin, size_t text_begin) {
    list_.tokens.push_back(
        {kind, text_.substr(text_begin, at_ - text_begin), {begin, at_}, line_start_});
  }

  void next() {
    size_t begin = at_;
    char c = text_[at_];
    if (c == '/' && peek(1) == '/') return comment();
    if (is_letter(c)) {
      word();
      return push(TokenKind::name, begin, begin);
    }
    if ((c == '$' || c == '#') && is_word(peek(1))) {
      ++at_;
      word();
      return push(c == '$' ? TokenKind::scalar : TokenKind::tag, begin, begin + 1);
    }
    if (is_digit(c)) return number();
    if (c == '"') return string();
    if (c == '>' && peek(1) == '=') {
      at_ += 2;
      return push(TokenKind::symbol, begin, begin);
    }
    if (std::string_view(":,;(){}[]<>=+-*/.@").find(c) != std::string_view::npos) {
      ++at_;
      return push(TokenKind::symbol, begin, begin);
    }
    stray();
  }

  void word() {
    while (at_ < text_.size() && is_inner(text_[at_])) ++at_;
  }

  void comment() {
    size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    size_t begin = at_ + 2;
    if (begin < end && text_[begin] == ' ') ++begin;
    size_t last = end;
    if (last > begin && text_[last - 1] == '\r') --last;
    list_.comments.push_back({text_.substr(begin, last - begin), list_.tokens.size(), line_start_});
    at_ = end;
  }

  void number() {
    size_t begin = at_;
    if (text_[at_] == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
    } else {
      while (is_digit(peek(0))) ++at_;
      if (peek(0) == '.' && is_digit(peek(1))) {
        ++at_;
        while (is_digit(peek(0))) ++at_;
      }
      bool sign = peek(1) == '+' || peek(1) == '-';
      if ((peek(0) == 'e' || peek(0) == 'E') && is_digit(peek(sign ? 2 : 1))) {
        at_ += sign ? 2 : 1;
        while (is_digit(peek(0))) ++at_;
      }
    }
    // Hexadecimal digits, or letters that have no business here: the reader of numbers complains.
    word();
    push(TokenKind::number, begin, begin);
  }

  void string() {
    size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
    } else {
      diagnostics_.error({begin, at_}, "the string does not end on its line");
    }
    push(TokenKind::string, begin, begin);
  }

  void stray() {
    size_t begin = at_;
    auto starts_token = [](char c) {
      return is_word(c) || is_blank(c) ||
             std::string_view("\n$#\":,;(){}[]<>=+-*/.@").find(c) != std::string_view::npos;
    };
    do {
      ++at_;
    } while (at_ < text_.size() && !starts_token(text_[at_]));
    // At most 8 bytes, and no part of a character.
    size_t shown = std::min<size_t>(at_ - begin, 8);
    for (int i = 0; i < 3 && begin + shown < at_ &&
                    (static_cast<unsigned char>(text_[begin + shown]) & 0xC0) == 0x80;
         ++i)
      --shown;
    diagnostics_.error({begin, at_},
                       fmt::format("'{}' means nothing in Stripe", text_.substr(begin, shown)));
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  size_t at_;
  TokenList list_;
  bool line_start_ = true;
};

}  // namespace

TokenList tokenize(const SourceText& source, Diagnostics& diagnostics) {
  return Lexer(source, diagnostics).run();
}

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (char c : text)
    if (!is_inner(c)) return false;
  return true;
}

}  // namespace stria::stripe
