// SPDX-License-Identifier: Apache-2.0
// Tables as text: a line is a row, commas part its cells. A cell may stand in quotation marks, with
// "" for one of them; blanks around it do not count, and a comma may stand at the end of a row.
// Lines without a cell are left out.
#pragma once

#include <string>
#include <vector>

#include "stria/base/diagnostic.h"

namespace stria::sim {

struct TableCell {
  std::string text;
  SourceSpan span;
};

struct TableRow {
  std::vector<TableCell> cells;  // without the empty ones behind the last comma
  SourceSpan span;
};

// The rows of `file`; what cannot be read is reported and left out.
std::vector<TableRow> read_table(const SourceText& file, Diagnostics& diagnostics);

}  // namespace stria::sim
