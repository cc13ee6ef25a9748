// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/trust.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "stria/base/file.h"
#include "stria/hal/sha256.h"

namespace stria::hal {
namespace {

Status check_path(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return not_found("cannot look at '{}': {}", path.string(), std::strerror(errno));
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return make_error(StatusCode::permission_denied,
                      "'{}' belongs to user {}, not to root or user {}; chown it to trust it",
                      path.string(), info.st_uid, ::geteuid());
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return make_error(StatusCode::permission_denied,
                      "'{}' can be written by others (mode {:o}); chmod go-w it to trust it",
                      path.string(), info.st_mode & 07777);
  return Status();
}

}  // namespace

Status check_trust(const std::filesystem::path& directory, const Manifest& manifest) {
  STRIA_RETURN_IF_ERROR(check_path(directory));
  STRIA_RETURN_IF_ERROR(check_path(directory / "plugin.json"));
  STRIA_RETURN_IF_ERROR(check_path(directory / manifest.library));
  for (const DeviceKind& kind : manifest.devices) {
    for (const std::filesystem::path& file : {kind.hw, kind.pipeline}) {
      STRIA_RETURN_IF_ERROR(check_path(directory / file));
      // Whoever may write a folder may replace its files.
      for (auto folder = file.parent_path(); !folder.empty(); folder = folder.parent_path())
        STRIA_RETURN_IF_ERROR(check_path(directory / folder));
    }
  }
  for (auto folder = manifest.library.parent_path(); !folder.empty(); folder = folder.parent_path())
    STRIA_RETURN_IF_ERROR(check_path(directory / folder));
  return Status();
}

Status check_hashes(const std::filesystem::path& directory, const Manifest& manifest) {
  for (const auto& [file, expected] : manifest.sha256) {
    STRIA_ASSIGN(std::string bytes, read_file(directory / file));
    std::string actual = sha256(bytes);
    if (actual != expected)
      return make_error(StatusCode::data_loss, "'{}' has SHA-256 {}, the manifest pins {}",
                        (directory / file).string(), actual, expected);
  }
  return Status();
}

bool is_elevated() { return ::getauxval(AT_SECURE) != 0; }

}  // namespace stria::hal
