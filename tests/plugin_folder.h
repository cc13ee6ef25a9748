// SPDX-License-Identifier: Apache-2.0
// Which plugins the tests load: those of the build, or those of the folder in STRIA_TEST_PLUGINS.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace stria {

inline std::string plugin_folder(const std::string& of_the_build) {
  const char* other = std::getenv("STRIA_TEST_PLUGINS");
  return other ? other : of_the_build;
}

// The names of its plugins: those of the build, or what lies in that folder.
inline std::vector<std::string> tested_plugins(std::vector<std::string> of_the_build) {
  const std::string folder = plugin_folder("");
  if (folder.empty()) return of_the_build;
  // The folder may be a plugin's own.
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  if (std::filesystem::exists(path / "plugin.json"))
    return {path.has_filename() ? path.filename() : path.parent_path().filename()};
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "plugin.json"))
      found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace stria
