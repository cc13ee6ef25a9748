// SPDX-License-Identifier: Apache-2.0
#include "stria/base/cache_folder.h"

#include <cstdlib>

#include "stria/base/file.h"

namespace stria {

std::filesystem::path user_cache_folder() {
  const char* cache = secure_getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::filesystem::path(cache) / "stria";
  const char* home = secure_getenv("HOME");
  if (home && home[0] == '/') return std::filesystem::path(home) / ".cache" / "stria";
  return {};
}

Status write_cache_file(const std::filesystem::path& file, std::string_view bytes) {
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::regular)
    std::filesystem::remove(file, error);
  return write_file(file, bytes);
}

}  // namespace stria
