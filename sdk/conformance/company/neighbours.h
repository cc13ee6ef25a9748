// SPDX-License-Identifier: Apache-2.0
// The plugins that one may be loaded beside: those in the folders beside it, and the product's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stria::conformance {

struct Neighbour {
  std::string name;  // of its folder, as names of cases have it; unlike that of any other
  std::filesystem::path directory;
};

// Without the plugin itself, each once, in order of their names; nothing of them is loaded.
std::vector<Neighbour> neighbours_of(const std::filesystem::path& directory);

}  // namespace stria::conformance
