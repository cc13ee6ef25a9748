// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "stria/base/text.h"
#include "stria/hal/plugin_set.h"
#include "stria/hal/trust.h"

namespace stria::hal {

std::vector<SearchPlace> search_places(const SearchOptions& options) {
  std::vector<SearchPlace> places;
  for (const auto& path : options.paths) places.push_back({path, "API", true});
  if (options.only_paths) return places;
  if (!is_elevated()) {
    if (const char* value = std::getenv("STRIA_PLUGIN_PATH"))
      for (const std::string& path : split(value, ':'))
        if (!path.empty()) places.push_back({path, "STRIA_PLUGIN_PATH", true});
    if (const char* home = std::getenv("HOME"); home && *home)
      places.push_back({std::filesystem::path(home) / ".local/lib/stria/plugins", "user", false});
  }
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error)
    places.push_back(
        {self.parent_path().parent_path() / "lib/stria/plugins", "beside the executable", false});
  return places;
}

}  // namespace stria::hal
