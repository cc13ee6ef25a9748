// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/trust.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "stria/hal/boundary/info.h"
#include "stria/hal/files/inside_file.h"
#include "stria/hal/files/sha256.h"

namespace stria::hal {
namespace {

// More is no plugin's directory, and would take long to look at.
constexpr int kMaxEntries = 10'000;
// Of a file whose hash is pinned.
constexpr size_t kMaxFileBytes = size_t{4} << 30;

Status check_path(const std::filesystem::path& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0)
    return not_found("cannot look at '{}': {}", path.string(), std::strerror(errno));
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return make_error(StatusCode::permission_denied,
                      "'{0}' belongs to user {1}, not to root or user {2}; to trust it: "
                      "chown -h {2} '{0}'",
                      path.string(), info.st_uid, ::geteuid());
  // A link has no mode of its own.
  if (!S_ISLNK(info.st_mode) && (info.st_mode & (S_IWGRP | S_IWOTH)))
    return make_error(StatusCode::permission_denied,
                      "'{0}' can be written by others (mode {1:o}); to trust it: chmod go-w '{0}'",
                      path.string(), info.st_mode & 07777);
  return Status();
}

}  // namespace

Status check_trust(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  STRIA_RETURN_IF_ERROR(check_path(directory));
  std::error_code error;
  int count = 0;
  for (fs::recursive_directory_iterator entries(directory, error), end; !error && entries != end;
       entries.increment(error)) {
    if (++count > kMaxEntries)
      return make_error(StatusCode::out_of_range, "'{}' has more than {} files and folders",
                        directory.string(), kMaxEntries);
    STRIA_RETURN_IF_ERROR(check_path(entries->path()));
  }
  if (error)
    return make_error(StatusCode::permission_denied, "cannot list '{}': {}", directory.string(),
                      error.message());
  return Status();
}

Status check_hashes(const std::filesystem::path& directory, const Manifest& manifest) {
  for (const auto& [file, expected] : manifest.sha256) {
    STRIA_ASSIGN(const std::string bytes,
                 read_inside(directory, file, kMaxFileBytes, shown_path(directory)));
    std::string actual = sha256(bytes);
    if (actual != expected)
      return make_error(StatusCode::data_loss, "'{}' has SHA-256 {}, the manifest pins {}",
                        shown_path(directory / file), actual, expected);
  }
  return Status();
}

bool is_elevated() { return ::getauxval(AT_SECURE) != 0; }

}  // namespace stria::hal
