// SPDX-License-Identifier: Apache-2.0
// Messages about a place in a text: "file:line:column: error: …", the source line and a caret.
// Every reader of text (Tile, Stripe, JSON) reports through this, so all messages look alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/source_text.h"
#include "stria/base/status.h"

namespace stria {

// Half-open range of byte offsets into a SourceText. begin == end marks a point.
struct SourceSpan {
  size_t begin = 0;
  size_t end = 0;
};

// Where a reader begins: behind the byte order mark that some editors put first, else 0.
size_t text_begin(std::string_view text);

// 1-based; the column counts bytes, from text_begin.
struct LineColumn {
  int line = 1;
  int column = 1;
};
LineColumn line_column(std::string_view text, size_t offset);

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  SourceSpan span;
  std::string message;
};

// "name:line:column: error: message\n  source line\n     ^~~~\n". Control characters and bytes that
// are no UTF-8 are shown as \x1b; tabs as blanks. A long name or message is cut, of a long line the
// part round the caret is shown.
std::string render(const SourceText& source, const Diagnostic& diagnostic);

// Errors of one text after which a reader gives up.
inline constexpr size_t kMaxErrors = 20;

// Collects messages about one text; a reader goes on after an error to report several.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceText& source) : source_(&source) {}
  void error(SourceSpan span, std::string message);
  void warning(SourceSpan span, std::string message);
  void note(SourceSpan span, std::string message);
  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // The messages rendered, in order of their place in the text: as many as fit in kMaxMessageBytes,
  // and how many more there are.
  std::string to_string() const;
  // The same of warnings only; "" if there are none.
  std::string warnings() const;
  // Ok without errors; otherwise `code` with all rendered messages.
  Status status(StatusCode code = StatusCode::invalid_argument) const;

 private:
  const SourceText* source_;  // borrowed
  std::vector<Diagnostic> all_;
  size_t error_count_ = 0;
};

// Whether `source` can be read at all: it has no NUL byte and is not mostly control bytes. If not,
// reports "not a text file"; a reader then reports nothing more.
[[nodiscard]] bool check_is_text(const SourceText& source, Diagnostics& diagnostics);

}  // namespace stria
