// SPDX-License-Identifier: Apache-2.0
#include "stria/base/diagnostic.h"

#include <algorithm>
#include <map>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"

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

// Of a message: the line that says how many more there are.
constexpr size_t kRoomForMore = kMaxNameBytes + 64;
// Beside the source line and the caret, of one that is rendered.
constexpr size_t kMaxTextBytes = kMaxMessageBytes / 2;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

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
  // As many as one message has room for, but one at least.
  std::string out;
  size_t shown = 0;
  for (; shown < order.size(); ++shown) {
    const std::string next = render(source, list[order[shown]]);
    if (shown > 0 && out.size() + next.size() + kRoomForMore > kMaxMessageBytes) break;
    out += next;
  }
  std::map<Severity, size_t> more;
  for (size_t i = shown; i < order.size(); ++i) ++more[list[order[i]].severity];
  std::vector<std::string> counts;
  for (const auto& [severity, count] : more)
    counts.push_back(fmt::format("{} {}{}", count, name_of(severity), count == 1 ? "" : "s"));
  if (!counts.empty())
    out += fmt::format("{}: and {} more\n", shown_name(source.name), join(counts, ", "));
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
  return fmt::format("{}:{}:{}: {}: {}\n  {}\n  {}^{}\n", shown_name(source.name), at.line,
                     at.column, name_of(diagnostic.severity),
                     shown_message(diagnostic.message, kMaxTextBytes), line.text,
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
