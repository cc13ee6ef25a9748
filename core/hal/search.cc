// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

#include "stria/base/text.h"
#include "stria/hal/plugin_set.h"
#include "stria/hal/trust.h"

namespace stria::hal {
namespace {

// The shared library that this code was linked into; empty if that is the executable itself.
std::filesystem::path own_library() {
  Dl_info info;
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(&search_places), &info,
                reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
    return {};
  // The executable's entry has an empty name.
  if (map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(map->l_name, error);
  return error ? std::filesystem::path() : path;
}

}  // namespace

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
  auto beside = [&](const std::filesystem::path& file, const char* origin) {
    if (file.empty()) return;
    std::filesystem::path folder = file.parent_path().parent_path() / "lib/stria/plugins";
    if (places.empty() || places.back().path != folder)
      places.push_back({std::move(folder), origin, false});
  };
  std::error_code error;
  beside(std::filesystem::read_symlink("/proc/self/exe", error), "beside the executable");
  beside(own_library(), "beside the library");
  return places;
}

}  // namespace stria::hal
