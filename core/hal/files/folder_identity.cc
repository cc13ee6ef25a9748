// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/folder_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace stria::hal {

namespace fs = std::filesystem;

namespace {

std::string line_of(const std::string& name, const fs::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return name + " missing\n";
  return fmt::format("{} {} {} {} {}.{} {}.{}\n", name, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

}  // namespace

std::string file_line(const fs::path& file) { return line_of(file.string(), file); }

std::string folder_lines(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entries(folder, error), end; !error && entries != end;
       entries.increment(error))
    files.push_back(entries->path());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += line_of(file.lexically_relative(folder), file);
  return text;
}

}  // namespace stria::hal
