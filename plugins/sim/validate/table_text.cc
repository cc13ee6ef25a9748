// SPDX-License-Identifier: Apache-2.0
#include "validate/table_text.h"

#include "stria/base/shown_text.h"

namespace stria::sim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }

class Reader {
 public:
  Reader(const SourceText& file, Diagnostics& diagnostics)
      : text_(file.text), diagnostics_(diagnostics), at_(text_begin(file.text)) {}

  std::vector<TableRow> run() {
    std::vector<TableRow> rows;
    while (at_ < text_.size()) {
      TableRow row = read_row();
      if (!row.cells.empty()) rows.push_back(std::move(row));
      if (at_ < text_.size())
        ++at_;  // the end of the line; of two characters an empty line is left
    }
    return rows;
  }

 private:
  bool more() const { return at_ < text_.size() && !ends_line(text_[at_]); }

  TableRow read_row() {
    TableRow row;
    row.span.begin = at_;
    for (bool again = true; again;) {
      row.cells.push_back(read_cell());
      again = more();
      if (again) ++at_;  // the comma
    }
    while (!row.cells.empty() && row.cells.back().text.empty()) row.cells.pop_back();
    row.span.end = at_;
    return row;
  }

  // Up to the comma, or the end of the line.
  TableCell read_cell() {
    while (more() && is_blank(text_[at_])) ++at_;
    TableCell cell;
    cell.span.begin = at_;
    if (more() && text_[at_] == '"') return quoted();
    while (more() && text_[at_] != ',') ++at_;
    cell.span.end = at_;
    while (cell.span.end > cell.span.begin && is_blank(text_[cell.span.end - 1])) --cell.span.end;
    cell.text = text_.substr(cell.span.begin, cell.span.end - cell.span.begin);
    return cell;
  }

  TableCell quoted() {
    TableCell cell;
    cell.span.begin = at_++;
    bool closed = false;
    while (more() && !closed) {
      const char c = text_[at_++];
      if (c != '"') {
        cell.text += c;
      } else if (more() && text_[at_] == '"') {
        cell.text += text_[at_++];
      } else {
        closed = true;
      }
    }
    cell.span.end = at_;
    if (!closed) diagnostics_.error(cell.span, "the quotation mark is not closed on its line");
    const size_t behind = at_;
    while (more() && text_[at_] != ',') ++at_;
    const std::string_view rest = text_.substr(behind, at_ - behind);
    if (rest.find_first_not_of(" \t") != std::string_view::npos)
      diagnostics_.error(
          {behind, at_},
          fmt::format("'{}' stands between a quotation mark and the comma", shown_name(rest)));
    return cell;
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  size_t at_;
};

}  // namespace

std::vector<TableRow> read_table(const SourceText& file, Diagnostics& diagnostics) {
  return Reader(file, diagnostics).run();
}

}  // namespace stria::sim
