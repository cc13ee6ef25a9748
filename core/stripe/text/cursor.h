// SPDX-License-Identifier: Apache-2.0
// Reads the small parts of Stripe statements (numbers, forms, tags, types, locations) from a list
// of tokens; for the parser only. Each read_… returns false after it has reported what is wrong;
// the cursor then stands at the token that does not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/stripe/block.h"
#include "stria/stripe/text/lexer.h"

namespace stria::stripe {

class Cursor {
 public:
  Cursor(const TokenList& list, Diagnostics& diagnostics)
      : list_(&list), diagnostics_(&diagnostics) {}

  const Token& peek(size_t ahead = 0) const;
  size_t position() const { return at_; }
  bool at_end() const { return peek().kind == TokenKind::end; }
  void advance();
  // Jumps to the end; nothing more is reported.
  void stop();

  bool accept(std::string_view symbol);
  // `where` completes "expected ')' …", for example "after the operands".
  bool expect(std::string_view symbol, std::string_view where);
  // Reports "message, found 'token'" at the present token. Always false.
  bool fail(const std::string& message);
  // Reports the message at `span`. Always false.
  bool fail_at(SourceSpan span, const std::string& message);

  // "x", named `what` in messages.
  bool read_name(std::string& out, std::string_view what);
  bool read_scalar(std::string& out, std::string_view what);
  // A signed integer; hexadecimal only if `hex`.
  bool read_integer(int64_t& out, std::string_view what, bool hex = false);
  bool read_type(DataType& out);
  // (type)value after the type: the number is read in that type and must fit.
  bool read_literal(DataType type, Scalar& out);
  // 3, 1.5, true, "text".
  bool read_value(TagValue& out);
  bool read_tags(Tags& out);
  bool read_affine(Affine& out);
  // [a, b, …]; commas may be missing or trail.
  bool read_affines(std::vector<Affine>& out, std::string_view what);
  // <…> if there is one. <[0]> and <> are the empty location.
  bool read_location(Location& out);
  // 4*d0[0+:3] + d1[1+:2].
  bool read_bit_form(BitFieldForm& out);

 private:
  bool read_magnitude(uint64_t& out, std::string_view what, bool hex);
  bool read_real(DataType type, bool negative, double& out);
  bool read_text(std::string& out);
  bool read_unit(LocationUnit& out);

  const TokenList* list_;
  Diagnostics* diagnostics_;
  size_t at_ = 0;
  bool stopped_ = false;
};

}  // namespace stria::stripe
