// SPDX-License-Identifier: Apache-2.0
// What all cases together say of a plugin.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "suite/runner.h"

namespace stria::conformance {

struct Verdict {
  // The highest level up to which all cases hold, of those that ran; 0: not even the first.
  int level = 0;
  Level asked = Level::right;
  bool whole = true;  // every case up to `asked` ran: no --only, not stopped
  std::array<int, kEndings> count{};
  std::map<char, std::array<int, kEndings>> by_group;
  bool holds() const { return level >= static_cast<int>(asked); }
};

// An expected failure keeps its level from being reached; so does a pass that is not expected.
Verdict verdict_of(const std::vector<Case>& all, const std::vector<CaseResult>& results,
                   Level asked, bool whole);

}  // namespace stria::conformance
