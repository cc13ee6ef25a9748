// SPDX-License-Identifier: Apache-2.0
// Programs of a folder, run through the command on arrays whose results the tests know.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command.h"

namespace stria::end_to_end {

using Arrays = std::map<std::string, Array>;

struct Case {
  std::string file;  // in the folder, without ".tile"
  Arrays inputs;
  Arrays expected;
  double tolerance = 0;  // relative, for functions that are not exact
};

// Runs each case on the device, with --check, and compares every output with what is expected; no
// cases, and a case that expects nothing, fail. A device may refuse a type that it lacks
// (lacked_types.h). `folder` is one of tests/end_to_end.
void run_cases(const std::string& folder, const std::vector<Case>& cases,
               const std::string& device);
// Nothing in the folder is left out, and no case is of a program that is not there.
void expect_a_case_of_every_program(const std::string& folder, const std::vector<Case>& cases);

}  // namespace stria::end_to_end
