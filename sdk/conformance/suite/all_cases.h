// SPDX-License-Identifier: Apache-2.0
// The cases of the suite, in the order in which they run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "suite/case.h"

namespace stria::conformance {

// A group's cases are made by its folder. Some depend on the plugin: one case for each of its
// device kinds, say. `directory` is the plugin's; nothing of it is loaded.
struct CaseMaker {
  std::filesystem::path directory;
  std::vector<Case>& out;

  // Adds a case; `name` without its group's letter.
  Case& add(char group, std::string_view name, Level level, std::string_view sentence,
            std::function<Finding(Subject&)> run);
};

// Every name comes once.
std::vector<Case> all_cases(const std::filesystem::path& directory);

// The indices of the cases up to `level` whose names match one of `only` ("M", "M.copy", with *
// and ?; empty: all). invalid_argument, with the nearest names, for one that matches none.
Result<std::vector<size_t>> selected(const std::vector<Case>& all, Level level,
                                     const std::vector<std::string>& only);

}  // namespace stria::conformance
