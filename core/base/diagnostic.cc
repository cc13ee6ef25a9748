// SPDX-License-Identifier: Apache-2.0
#include "stria/base/diagnostic.h"

#include <algorithm>

namespace stria {
namespace {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Bytes of the UTF-8 character at `at`; 0 if there is none, or it is a control character that a
// terminal may obey.
size_t printable_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return is_control(static_cast<unsigned char>(first)) ? 0 : 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : (first & 0xF0u) == 0xE0       ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0) return 0;
  unsigned code = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0u) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3Fu);
  }
  const bool shortest =
      length == 2 || (length == 3 ? code >= 0x800 : code >= 0x10000 && code <= 0x10FFFF);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return shortest && !surrogate && code >= 0xA0 ? length : 0;
}

std::string escaped_byte(char c) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(c)); }

// A message may have lines of its own; nothing else in it reaches the terminal raw.
std::string escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = text[i] == '\n' ? 1 : printable_length(text, i);
    out += length == 0 ? escaped_byte(text[i]) : std::string(text.substr(i, length));
    i += std::max<size_t>(length, 1);
  }
  return out;
}

// A source line as shown: the text, and for each byte of the line (and its end) the column it is
// shown at.
struct ShownLine {
  std::string text;
  std::vector<size_t> column;
};

ShownLine show(std::string_view line) {
  ShownLine out;
  size_t column = 0;
  for (size_t i = 0; i < line.size();) {
    const bool blank = line[i] == '\t' || line[i] == '\r';
    const size_t length = blank ? 1 : printable_length(line, i);
    std::string shown = blank         ? " "
                        : length == 0 ? escaped_byte(line[i])
                                      : std::string(line.substr(i, length));
    out.column.insert(out.column.end(), std::max<size_t>(length, 1), column);
    column += length == 0 ? shown.size() : 1;
    out.text += shown;
    i += std::max<size_t>(length, 1);
  }
  out.column.push_back(column);
  return out;
}

std::string render_all(const SourceText& source, std::vector<Diagnostic> list) {
  // A note follows the message it explains, so only errors and warnings are keys of the order.
  std::vector<size_t> key(list.size());
  for (size_t i = 0; i < list.size(); ++i)
    key[i] = list[i].severity == Severity::note && i > 0 ? key[i - 1] : list[i].span.begin;
  std::vector<size_t> order(list.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key[a] < key[b]; });
  std::string out;
  for (size_t i : order) out += render(source, list[i]);
  return out;
}

}  // namespace

size_t text_begin(std::string_view text) {
  return text.substr(0, kByteOrderMark.size()) == kByteOrderMark ? kByteOrderMark.size() : 0;
}

LineColumn line_column(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  LineColumn at;
  size_t line_begin = std::min(text_begin(text), offset);
  for (size_t i = line_begin; i < offset; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      line_begin = i + 1;
    }
  }
  at.column = static_cast<int>(offset - line_begin) + 1;
  return at;
}

std::string render(const SourceText& source, const Diagnostic& diagnostic) {
  std::string_view text = source.text;
  size_t begin = std::clamp(diagnostic.span.begin, text_begin(text), text.size());
  LineColumn at = line_column(text, begin);
  size_t line_begin = begin - static_cast<size_t>(at.column - 1);
  size_t line_end = std::min(text.find('\n', begin), text.size());
  size_t end = std::clamp(diagnostic.span.end, begin, line_end);
  // A long line (generated text) shows only the part round the caret.
  constexpr size_t kMaxWidth = 160;
  if (line_end - line_begin > kMaxWidth) {
    if (begin - line_begin > kMaxWidth / 2) line_begin = begin - kMaxWidth / 2;
    // Not from or to the middle of a character.
    auto within = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
    for (int i = 0; i < 3 && line_begin < begin && within(line_begin); ++i) ++line_begin;
    if (line_end - line_begin > kMaxWidth) {
      line_end = line_begin + kMaxWidth;
      for (int i = 0; i < 3 && line_end > begin && within(line_end); ++i) --line_end;
    }
    end = std::min(end, line_end);
  }
  ShownLine line = show(text.substr(line_begin, line_end - line_begin));
  size_t column = line.column[begin - line_begin];
  size_t width = std::max<size_t>(line.column[std::max(begin, end) - line_begin] - column, 1);
  return fmt::format("{}:{}:{}: {}: {}\n  {}\n  {}^{}\n", escaped(source.name), at.line, at.column,
                     name_of(diagnostic.severity), escaped(diagnostic.message), line.text,
                     std::string(column, ' '), std::string(width - 1, '~'));
}

bool check_is_text(const SourceText& source, Diagnostics& diagnostics) {
  const std::string& text = source.text;
  size_t controls = 0, first = text.size();
  size_t nul = text.find('\0');
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_control(static_cast<unsigned char>(c)) || (c >= '\t' && c <= '\r')) continue;
    ++controls;
    first = std::min(first, i);
  }
  if (nul == std::string::npos && controls * 2 <= text.size()) return true;
  const size_t at = nul == std::string::npos ? first : nul;
  diagnostics.error({at, at + 1}, "not a text file");
  return false;
}

void Diagnostics::error(SourceSpan span, std::string message) {
  ++error_count_;
  all_.push_back({Severity::error, span, std::move(message)});
}
void Diagnostics::warning(SourceSpan span, std::string message) {
  all_.push_back({Severity::warning, span, std::move(message)});
}
void Diagnostics::note(SourceSpan span, std::string message) {
  all_.push_back({Severity::note, span, std::move(message)});
}

std::string Diagnostics::to_string() const { return render_all(*source_, all_); }

std::string Diagnostics::warnings() const {
  std::vector<Diagnostic> list;
  for (const Diagnostic& d : all_)
    if (d.severity == Severity::warning) list.push_back(d);
  return render_all(*source_, std::move(list));
}

Status Diagnostics::status(StatusCode code) const {
  if (!has_errors()) return Status();
  std::string text = to_string();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Status(code, std::move(text));
}

}  // namespace stria
