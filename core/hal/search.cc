// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "stria/base/text.h"
#include "stria/hal/files/own_files.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/plugin_set.h"

namespace stria::hal {
namespace {

constexpr const char* kVariable = "STRIA_PLUGIN_PATH";
constexpr const char* kUser = "user";

}  // namespace

bool is_own_place(std::string_view origin) { return origin == kVariable || origin == kUser; }

std::vector<SearchPlace> search_places(const SearchOptions& options) {
  std::vector<SearchPlace> places;
  for (const auto& path : options.paths) places.push_back({path, "API", true});
  if (options.only_paths) return places;
  if (!is_elevated()) {
    if (const char* value = std::getenv(kVariable))
      for (const std::string& path : split(value, ':'))
        if (!path.empty()) places.push_back({path, kVariable, true});
    if (const char* home = std::getenv("HOME"); home && *home)
      places.push_back({std::filesystem::path(home) / ".local/lib/stria/plugins", kUser, false});
  }
  auto beside = [&](const std::filesystem::path& file, const char* origin) {
    if (file.empty()) return;
    std::filesystem::path folder = file.parent_path().parent_path() / "lib/stria/plugins";
    if (places.empty() || places.back().path != folder)
      places.push_back({std::move(folder), origin, false});
  };
  beside(own_executable(), "beside the executable");
  beside(own_library(), "beside the library");
  return places;
}

}  // namespace stria::hal
