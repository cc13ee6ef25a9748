// SPDX-License-Identifier: Apache-2.0
#include "suite/verdict.h"

#include <algorithm>

namespace stria::conformance {

Verdict verdict_of(const std::vector<Case>& all, const std::vector<CaseResult>& results,
                   Level asked, bool whole) {
  Verdict out;
  out.asked = asked;
  out.whole = whole;
  int level = static_cast<int>(asked);
  for (const CaseResult& result : results) {
    const Case& c = all[result.index];
    ++out.count[static_cast<size_t>(result.ending)];
    ++out.by_group[c.group()][static_cast<size_t>(result.ending)];
    if (!is_good(result.ending) || !result.is_tried)
      level = std::min(level, static_cast<int>(c.level) - 1);
  }
  out.level = results.empty() ? 0 : level;
  return out;
}

}  // namespace stria::conformance
