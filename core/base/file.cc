// SPDX-License-Identifier: Apache-2.0
#include "stria/base/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace stria {
namespace {

Status error_of(const std::filesystem::path& path, const char* verb, int number) {
  StatusCode code = StatusCode::invalid_argument;
  if (number == ENOENT) code = StatusCode::not_found;
  if (number == EACCES || number == EPERM || number == EROFS) code = StatusCode::permission_denied;
  return make_error(code, "cannot {} '{}': {}", verb, path.string(), std::strerror(number));
}

Status write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return error_of(path, "write", errno);
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status();
}

// A file whose bytes lie beside its target, or are still to be written if it has no name to rename
// to.
struct Staged {
  std::filesystem::path path;
  std::string temporary;   // empty: written directly
  std::string_view bytes;  // for that
};

// A new file beside `path`, open for writing; -1 and errno if there is none. The mode is what the
// process gives new files.
int open_beside(const std::filesystem::path& path, std::string* name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return -1;
    *name = fmt::format("{}.{:016x}", path.string(), number);
    int descriptor = ::open(name->c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

Result<Staged> stage(const std::filesystem::path& given, std::string_view bytes) {
  struct stat info{};
  bool exists = ::stat(given.c_str(), &info) == 0;
  // Through a link, the file it names is replaced and not the link: /dev/stdout is a link, too.
  std::error_code no_such;
  std::filesystem::path path = given;
  if (std::filesystem::is_symlink(given, no_such)) {
    std::filesystem::path target = std::filesystem::weakly_canonical(given, no_such);
    if (!no_such) path = target;
  }
  // What is open under a number has no name to rename to.
  std::string text = std::filesystem::absolute(given, no_such).lexically_normal().string();
  bool by_number = text.rfind("/dev/", 0) == 0 || text.rfind("/proc/", 0) == 0;
  if (exists && S_ISDIR(info.st_mode)) return error_of(path, "write", EISDIR);
  if (exists && ::access(path.c_str(), W_OK) != 0) return error_of(path, "write", errno);
  if (exists && (by_number || !S_ISREG(info.st_mode))) return Staged{given, "", bytes};
  std::string temporary;
  int descriptor = open_beside(path, &temporary);
  if (descriptor < 0) return error_of(path, "write", errno);
  Status status;
  if (exists && ::fchmod(descriptor, info.st_mode & 07777) != 0)
    status = error_of(path, "write", errno);
  if (status.ok()) status = write_all(descriptor, bytes, path);
  if (::close(descriptor) != 0 && status.ok()) status = error_of(path, "write", errno);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return Staged{path, temporary, {}};
}

Status commit(const Staged& file) {
  if (!file.temporary.empty()) {
    if (::rename(file.temporary.c_str(), file.path.c_str()) == 0) return Status();
    return error_of(file.path, "write", errno);
  }
  int descriptor = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return error_of(file.path, "write", errno);
  Status status = write_all(descriptor, file.bytes, file.path);
  if (::close(descriptor) != 0 && status.ok()) status = error_of(file.path, "write", errno);
  return status;
}

// After a commit there is nothing left to discard.
void discard(const Staged& file) {
  if (!file.temporary.empty()) ::unlink(file.temporary.c_str());
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return error_of(path, "read", errno);
  std::string bytes;
  struct stat info{};
  auto too_large = [&] {
    ::close(descriptor);
    return invalid_argument("'{}' is larger than the limit of {} bytes", path.string(), max_bytes);
  };
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
    const auto size = static_cast<size_t>(info.st_size);
    if (size > max_bytes) return too_large();
    // A file with holes says much more than there is to read.
    bytes.reserve(std::min(size, size_t{64} << 20));
  }
  char chunk[1 << 16];
  while (true) {
    ssize_t count = ::read(descriptor, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      Status status = error_of(path, "read", errno);
      ::close(descriptor);
      return status;
    }
    if (count == 0) break;
    bytes.append(chunk, static_cast<size_t>(count));
    if (bytes.size() > max_bytes) return too_large();
  }
  ::close(descriptor);
  return bytes;
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  STRIA_ASSIGN(Staged file, stage(path, bytes));
  Status status = commit(file);
  if (!status.ok()) discard(file);
  return status;
}

Status write_files(std::span<const FileText> files) {
  std::vector<Staged> staged;
  Status status;
  for (const FileText& file : files) {
    auto next = stage(file.path, file.text);
    if (!next.ok()) {
      status = next.status();
      break;
    }
    staged.push_back(std::move(*next));
  }
  // A rename hardly ever fails, a direct write may: it comes before any file is replaced.
  for (bool renamed : {false, true}) {
    for (const Staged& file : staged) {
      if (file.temporary.empty() == renamed) continue;
      if (status.ok()) status = commit(file);
      if (!status.ok()) discard(file);
    }
  }
  return status;
}

}  // namespace stria
