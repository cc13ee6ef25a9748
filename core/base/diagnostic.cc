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

LineColumn line_column(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  LineColumn at;
  size_t line_begin = 0;
  for (size_t i = 0; i < offset; ++i) {
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
  size_t begin = std::min(diagnostic.span.begin, text.size());
  LineColumn at = line_column(text, begin);
  size_t line_begin = begin - static_cast<size_t>(at.column - 1);
  size_t line_end = text.find('\n', begin);
  if (line_end == std::string_view::npos) line_end = text.size();
  std::string line(text.substr(line_begin, line_end - line_begin));
  // A tab would put the caret in the wrong column; every byte shows as one column.
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  // A long line (generated text) shows only the part round the caret.
  constexpr size_t kMaxWidth = 160;
  size_t column = begin - line_begin;
  if (line.size() > kMaxWidth) {
    size_t from = column > kMaxWidth / 2 ? column - kMaxWidth / 2 : 0;
    line = line.substr(from, kMaxWidth);
    column -= from;
  }
  size_t width = 1;
  if (diagnostic.span.end > begin + 1)
    width = std::min(diagnostic.span.end, line_end) - begin;
  if (width < 1) width = 1;
  width = std::min(width, line.size() > column ? line.size() - column : size_t{1});
  return fmt::format("{}:{}:{}: {}: {}\n  {}\n  {}^{}\n", source.name, at.line, at.column,
                     name_of(diagnostic.severity), diagnostic.message, line,
                     std::string(column, ' '), std::string(width - 1, '~'));
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
