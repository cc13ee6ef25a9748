// SPDX-License-Identifier: Apache-2.0
#include "stria/base/cache_folder.h"

#include <sys/stat.h>

#include <cerrno>
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

int make_cache_folder(const std::filesystem::path& folder) {
  const std::filesystem::path above = folder.parent_path();
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return 0;
  if (errno == ENOENT && !above.empty() && above != folder) {
    if (const int number = make_cache_folder(above); number != 0) return number;
    if (::mkdir(folder.c_str(), S_IRWXU) == 0) return 0;
  }
  // Of a folder that is there, a file system that cannot be written says something else.
  const int number = errno;
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return 0;
  return number == EEXIST ? ENOTDIR : number;
}

Status write_cache_file(const std::filesystem::path& file, std::string_view bytes) {
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::regular)
    std::filesystem::remove(file, error);
  return write_file(file, bytes);
}

}  // namespace stria
