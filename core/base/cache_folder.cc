// SPDX-License-Identifier: Apache-2.0
#include "stria/base/cache_folder.h"

#include <cstdlib>

namespace stria {

std::filesystem::path user_cache_folder() {
  const char* cache = secure_getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::filesystem::path(cache) / "stria";
  const char* home = secure_getenv("HOME");
  if (home && home[0] == '/') return std::filesystem::path(home) / ".cache" / "stria";
  return {};
}

}  // namespace stria
