// SPDX-License-Identifier: Apache-2.0
#include "new_plugin/project_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"

namespace stria::command {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

Status is_there(const fs::path& folder) {
  return invalid_argument("there is a '{}' already: it is left as it is",
                          shown_name(folder.string()));
}

// What the process's mask leaves of a mode.
mode_t masked(mode_t mode) {
  const mode_t mask = umask(0);
  umask(mask);
  return mode & ~mask;
}

Status write_files_of(const fs::path& folder, std::span<const ProjectFile> files) {
  for (const ProjectFile& file : files) {
    const fs::path path = folder / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return invalid_argument("cannot make the folder '{}': {}",
                              shown_name(path.parent_path().string()), error.message());
    STRIA_RETURN_IF_ERROR(write_file(path, file.text));
    if (file.executable && chmod(path.c_str(), masked(0777)) != 0)
      return invalid_argument("cannot make '{}' executable: {}", shown_name(path.string()),
                              reason(errno));
  }
  return Status();
}

// Gives the folder its name, and takes no other's.
Status rename_to(const std::string& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return Status();
  int error = errno;
  // Some file systems do not know the flag.
  if (error == EINVAL || error == ENOSYS) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(to, ignored))) return is_there(to);
    if (rename(from.c_str(), to.c_str()) == 0) return Status();
    error = errno;
  }
  if (error == EEXIST || error == ENOTEMPTY) return is_there(to);
  return invalid_argument("cannot make the folder '{}': {}", shown_name(to.string()),
                          reason(error));
}

}  // namespace

Status write_project(const fs::path& folder, std::span<const ProjectFile> files) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) return is_there(folder);
  std::string temporary = (folder.parent_path() / ("." + folder.filename().string() + ".XXXXXX"));
  if (mkdtemp(temporary.data()) == nullptr)
    return invalid_argument("cannot make the folder '{}': {}", shown_name(folder.string()),
                            reason(errno));
  Status status = write_files_of(temporary, files);
  if (status.ok() && chmod(temporary.c_str(), masked(0777)) != 0)
    status = invalid_argument("cannot open the folder '{}' to others: {}",
                              shown_name(folder.string()), reason(errno));
  if (status.ok()) status = rename_to(temporary, folder);
  if (status.ok()) return status;
  fs::remove_all(temporary, error);
  // The folder that the user knows, not the one beside it.
  std::string message = status.message();
  if (const size_t at = message.find(temporary); at != std::string::npos)
    message.replace(at, temporary.size(), folder.string());
  return make_error(status.code(), "{}", message);
}

}  // namespace stria::command
