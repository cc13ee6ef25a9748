// SPDX-License-Identifier: Apache-2.0
// Cuts Tile text into tokens. Comments and empty lines are kept beside the token they precede, so
// that a printer can put them back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"

namespace stria::tile {

enum class TokenKind : uint8_t {
  end,      // behind the last character
  name,     // begins with a capital letter
  index,    // begins with a small letter: index variables and functions
  keyword,  // function, default, no_defract
  integer,  // 64 bits, not negative
  floating,
  sign,     // one of ( ) [ ] { } , ; : ? + - * / % < > <= >= == != = << >> & | ^ ~ ! && || ->
  invalid,  // already reported
};

struct Token {
  TokenKind kind = TokenKind::end;
  SourceSpan span;
  std::string_view text;  // into the source
  int64_t integer = 0;
  double floating = 0;
  bool blank_before = false;          // an empty line stands before this token and its comments
  bool blank_after_comments = false;  // one stands between its comments and the token

  bool is(std::string_view sign) const {
    return (kind == TokenKind::sign || kind == TokenKind::keyword) && text == sign;
  }
};

struct Comment {
  size_t token = 0;           // stands before this token
  bool own_line = true;       // nothing else stands before it on its line
  bool blank_before = false;  // an empty line stands between it and the comment before it
  std::string text;           // without "#" or "//" and without outer blanks
};

struct TokenList {
  std::vector<Token> tokens;  // the last one is `end`
  std::vector<Comment> comments;
};

// Reports characters and numbers that are not Tile through `diagnostics` and goes on behind them.
// `source` must outlive the tokens.
TokenList lex(const SourceText& source, Diagnostics& diagnostics);

}  // namespace stria::tile
