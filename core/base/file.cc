// SPDX-License-Identifier: Apache-2.0
#include "stria/base/file.h"

#include <sys/stat.h>
#include <unistd.h>

namespace stria {

Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes,
                              StreamPatience patience) {
  STRIA_ASSIGN(InputFile file, InputFile::open(path, patience));
  STRIA_ASSIGN(std::string bytes, file.read_rest(max_bytes));
  STRIA_RETURN_IF_ERROR(file.check_unchanged());
  return bytes;
}

bool is_stream(const std::filesystem::path& path) {
  if (descriptor_named(path) >= 0) return true;
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 &&
         (S_ISFIFO(info.st_mode) || (S_ISCHR(info.st_mode) && path.string().starts_with("/dev/")));
}

}  // namespace stria
