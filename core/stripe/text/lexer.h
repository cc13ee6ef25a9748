// SPDX-License-Identifier: Apache-2.0
// Cuts Stripe text into tokens; used by the parser only. Comments are kept apart, because only
// those in a block's head mean something.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"

namespace stria::stripe {

enum class TokenKind {
  name,    // x, block, mul
  scalar,  // $x, text without the $
  tag,     // #x, text without the #
  number,  // 12, 0x1f, 1.5, 1e-05; never signed
  string,  // "…", text still quoted
  symbol,  // one of : , ; ( ) { } [ ] < > = >= + - * / . @
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // into the source
  SourceSpan span;
  bool first_on_line = false;

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

struct Comment {
  std::string_view text;  // without "//", one space after it and the line end
  size_t next = 0;        // index of the token that follows
  bool own_line = false;  // nothing but blanks stands before it
};

struct TokenList {
  std::vector<Token> tokens;  // the last one is `end`
  std::vector<Comment> comments;
};

// Bytes that start no token are reported (once per run of them) and skipped.
TokenList tokenize(const SourceText& source, Diagnostics& diagnostics);

// True for [A-Za-z_][A-Za-z0-9_']*: what a name must look like to be printed and read back.
bool is_identifier(std::string_view text);

}  // namespace stria::stripe
