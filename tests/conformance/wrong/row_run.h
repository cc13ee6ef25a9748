// SPDX-License-Identifier: Apache-2.0
// Runs the suite on the plugin of each row, on as many processes as there are cores: what a plugin
// does to its process stays there.
#pragma once

#include <functional>

#include "rows.h"

namespace stria::wrong {

struct RowResult {
  bool as_expected = false;  // caught for the right reason; or a right plugin that passes
  std::string text;          // what the cases said
  double seconds = 0;
};

// One row in this process, in which no other thread runs.
RowResult run_row(const Row& row, const std::filesystem::path& scratch);

// All of them; the results in their order.
Result<std::vector<RowResult>> run_rows(const std::vector<Row>& rows,
                                        const std::filesystem::path& scratch, int processes);

}  // namespace stria::wrong
