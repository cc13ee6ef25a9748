// SPDX-License-Identifier: Apache-2.0
// expected_failures.txt in a plugin's directory: cases that it does not pass yet. One a line:
//
//   # what stands behind # is for people
//   K.add.fp16 2027-03-01 the rounding unit of the first chips
//
// A name may have * and ?. Until that day a failure of the case is expected; from then on it counts
// as any other. Such cases lower no verdict's truth: the level that they belong to is not reached.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "suite/runner.h"

namespace stria::conformance {

struct ExpectedFailure {
  std::string cases;
  std::string until;  // YYYY-MM-DD, the last day
  std::string reason;
  int line = 0;
};

inline constexpr std::string_view kExpectedFile = "expected_failures.txt";

// Every mistake in the text, with its line. `name` is what messages call it.
Result<std::vector<ExpectedFailure>> parse_expected(std::string_view text, std::string_view name);
// That file of a plugin's directory; empty if there is none.
Result<std::vector<ExpectedFailure>> read_expected(const std::filesystem::path& directory);

// Turns failures that are expected on `today` (YYYY-MM-DD) into xfail, and passes that are expected
// to fail into xpass.
void apply_expected(const std::vector<ExpectedFailure>& expected, std::string_view today,
                    const std::vector<Case>& all, std::vector<CaseResult>& results);

std::string today();

}  // namespace stria::conformance
