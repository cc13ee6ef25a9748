// SPDX-License-Identifier: Apache-2.0
// Changes of environment variables that other threads may read meanwhile.
//
// Libraries call getenv() at any time, and it walks through the process's table of variables
// without a lock. setenv() and unsetenv() may free that table, so whoever reads it then crashes.
// Here a new table takes the place of the old one, and nothing that was ever in place is freed. So
// each call keeps some bytes per variable for the life of the process: these are for the few
// variables that a driver reads once.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stria {

// Gives the variable this value, or removes it where there is none. Thread-safe, also beside
// getenv(). A change that setenv() makes in the same moment in another thread may be lost.
void set_variable(const std::string& name, const std::optional<std::string>& value);

// Leaves these variables alone, each as "name=value". Thread-safe in the same way.
void replace_variables(std::vector<std::string> variables);

}  // namespace stria
