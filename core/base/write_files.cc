// SPDX-License-Identifier: Apache-2.0
// The writing half of file.h. In the order of what can fail: everything is resolved, made beside
// its target and filled; then what is written directly; then the renames, which seldom fail and can
// be taken back.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "stria/base/file.h"
#include "stria/base/output_target.h"
#include "stria/base/shown_text.h"
#include "stria/base/temporary_file.h"
#include "stria/base/text.h"

namespace stria {
namespace {

namespace fs = std::filesystem;

// While one lives, a closed pipe's or a file size limit's signal does not end the process: write()
// says it in errno.
class WriteSignalsBlocked {
 public:
  WriteSignalsBlocked() {
    sigset_t both, pending;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGPIPE);
    ::sigaddset(&both, SIGXFSZ);
    ::sigpending(&pending);
    ::sigemptyset(&caused_);
    for (const int number : {SIGPIPE, SIGXFSZ})
      if (::sigismember(&pending, number) == 0) ::sigaddset(&caused_, number);
    ::pthread_sigmask(SIG_BLOCK, &both, &before_);
  }
  ~WriteSignalsBlocked() {
    // What write() caused is taken away before it can be delivered.
    const timespec now{};
    while (::sigtimedwait(&caused_, nullptr, &now) > 0 || errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WriteSignalsBlocked(const WriteSignalsBlocked&) = delete;
  WriteSignalsBlocked& operator=(const WriteSignalsBlocked&) = delete;

 private:
  sigset_t before_{}, caused_{};
};

// How long the reader of a pipe may take to open it, and to take more.
constexpr std::chrono::seconds kReaderPatience{10}, kPipePatience{60};

// An output of which the bytes lie beside the target, if they are to be renamed.
struct Staged {
  OutputTarget target;
  std::string_view bytes;
  std::unique_ptr<TemporaryFile> made;   // none: written directly
  std::unique_ptr<TemporaryFile> saved;  // the old file under another name, while it may return
  bool renamed = false;
};

// Owner, group, mode and access list of the file that is replaced. What the process may not give
// stays its own, and then nobody gains by it: the set-user-id bit is of the owner.
void take_over(int descriptor, const OutputTarget& target) {
  const OutputTarget::Old& old = *target.old;
  bool same_owner = true;
  if (::fchown(descriptor, old.owner, old.group) != 0) {
    same_owner = old.owner == ::geteuid();
    if (::fchown(descriptor, static_cast<uid_t>(-1), old.group) != 0) {
      struct stat info{};
      same_owner = same_owner && ::fstat(descriptor, &info) == 0 && info.st_gid == old.group;
    }
  }
  (void)::fchmod(descriptor, old.mode & (same_owner ? 07777 : 0777));
  constexpr const char* kAccess = "system.posix_acl_access";
  const int before = ::openat(target.folder->descriptor(), target.name.c_str(),
                              O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (before < 0) return;
  char list[4096];
  const ssize_t length = ::fgetxattr(before, kAccess, list, sizeof list);
  if (length > 0) (void)::fsetxattr(descriptor, kAccess, list, static_cast<size_t>(length), 0);
  ::close(before);
}

Result<Staged> stage(OutputTarget target, std::string_view bytes, TemporaryBatch& batch) {
  Staged staged{std::move(target), bytes, nullptr, nullptr};
  if (staged.target.kind != OutputTarget::Kind::replaced) return staged;
  int descriptor = -1;
  staged.made = batch.create(staged.target.folder, staged.target.name, &descriptor);
  if (!staged.made) return write_error(staged.target.shown, errno);
  if (staged.target.old) take_over(descriptor, staged.target);
  Status status = write_all(descriptor, bytes, staged.target.shown);
  if (::close(descriptor) != 0 && status.ok()) status = write_error(staged.target.shown, errno);
  STRIA_RETURN_IF_ERROR(status);
  return staged;
}

// A pipe's writer is let in as soon as there is a reader.
Result<int> open_direct(const OutputTarget& target) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const int descriptor =
        ::openat(target.folder->descriptor(), target.name.c_str(),
                 O_WRONLY | O_CLOEXEC | O_NOCTTY | (S_ISFIFO(target.old->mode) ? O_NONBLOCK : 0));
    if (descriptor >= 0) return descriptor;
    if (errno != ENXIO || !S_ISFIFO(target.old->mode)) return write_error(target.shown, errno);
    if (std::chrono::steady_clock::now() - begin > kReaderPatience)
      return make_error(StatusCode::deadline_exceeded,
                        "cannot write {}: it is a pipe, and nobody has opened it for reading for "
                        "{} s",
                        target.shown, kReaderPatience.count());
    ::usleep(20'000);
  }
}

Status write_directly(const Staged& file) {
  int descriptor = -1;
  if (file.target.kind == OutputTarget::Kind::descriptor) {
    // What was printed before comes before.
    std::fflush(nullptr);
    descriptor = ::fcntl(file.target.descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return write_error(file.target.shown, errno);
  } else {
    STRIA_ASSIGN(descriptor, open_direct(file.target));
  }
  Status status = write_all(descriptor, file.bytes, file.target.shown);
  if (::close(descriptor) != 0 && status.ok()) status = write_error(file.target.shown, errno);
  return status;
}

// Where the old file can come back from. A file system without hard links has no such place.
void save_old(Staged& file, TemporaryBatch& batch) {
  if (!file.target.old) return;
  file.saved = batch.reserve(file.target.folder, file.target.name);
  const int folder = file.target.folder->descriptor();
  if (file.saved &&
      ::linkat(folder, file.target.name.c_str(), folder, file.saved->name().c_str(), 0) != 0) {
    file.saved->forget();
    file.saved = nullptr;
  }
}

Status rename_over(Staged& file) {
  const int folder = file.target.folder->descriptor();
  if (::renameat(folder, file.made->name().c_str(), folder, file.target.name.c_str()) != 0)
    return write_error(file.target.shown, errno);
  file.made->forget();
  file.renamed = true;
  return Status();
}

// Whether the file is what it was before.
bool take_back(Staged& file) {
  const int folder = file.target.folder->descriptor();
  const char* name = file.target.name.c_str();
  if (!file.target.old) return ::unlinkat(folder, name, 0) == 0;
  if (!file.saved || ::renameat(folder, file.saved->name().c_str(), folder, name) != 0)
    return false;
  file.saved->forget();
  return true;
}

Status rename_all(std::vector<Staged>& files, TemporaryBatch& batch) {
  // All are renamed before a signal ends the process, or none.
  const SignalsWait wait;
  size_t count = 0;
  for (const Staged& file : files) count += file.made != nullptr;
  Status status;
  for (Staged& file : files) {
    if (!file.made) continue;
    if (count > 1) save_old(file, batch);
    status = rename_over(file);
    if (!status.ok()) break;
  }
  if (status.ok()) return status;
  std::vector<std::string> stay;
  for (auto file = files.rbegin(); file != files.rend(); ++file)
    if (file->renamed && !take_back(*file)) stay.push_back(file->target.shown);
  if (stay.empty()) return status;
  return Status(status.code(), fmt::format("{}; of the others these are written and could not be "
                                           "taken back: {}",
                                           status.message(), join(stay, ", ")));
}

// Folders that go again from the innermost on, unless they are kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(MadeFolders&&) = default;
  MadeFolders& operator=(MadeFolders&&) = delete;
  ~MadeFolders() {
    while (!folders_.empty()) folders_.pop_back();
  }
  void add(std::shared_ptr<OutputFolder> parent, const std::string& name) {
    folders_.emplace_back(std::move(parent), name);
  }
  void keep() {
    for (TemporaryFolder& folder : folders_) folder.keep();
  }

 private:
  std::vector<TemporaryFolder> folders_;
};

// Makes what is missing of `path`.
Result<MadeFolders> make_folders(const fs::path& path) {
  MadeFolders made;
  if (path.empty()) return made;
  const std::string shown = "'" + shown_name(path.string()) + "'";
  const auto fail = [&](int number) {
    return make_error(number == EACCES || number == EROFS ? StatusCode::permission_denied
                                                          : StatusCode::invalid_argument,
                      "cannot make the folder {}: {}", shown, std::strerror(number));
  };
  std::shared_ptr<OutputFolder> at = OutputFolder::open(path.is_absolute() ? "/" : ".");
  if (!at) return fail(errno);
  for (const fs::path& part : path.relative_path()) {
    if (part.empty()) continue;
    const SignalsWait wait;
    const bool is_new = ::mkdirat(at->descriptor(), part.c_str(), 0777) == 0;
    if (!is_new && errno != EEXIST) {
      // Of a folder that is there and that nothing can be made in, another error is said.
      struct stat info{};
      const int number = errno;
      if (::fstatat(at->descriptor(), part.c_str(), &info, 0) != 0) return fail(number);
    }
    if (is_new) made.add(at, part.string());
    std::shared_ptr<OutputFolder> next = OutputFolder::open_in(*at, part);
    if (!next) return fail(errno);
    at = std::move(next);
  }
  return made;
}

Result<std::vector<OutputTarget>> resolve_all(std::span<const FileText> files) {
  std::vector<OutputTarget> targets;
  // One descriptor for each folder: there may be more files than a process may have open.
  std::map<std::pair<dev_t, ino_t>, std::shared_ptr<OutputFolder>> folders;
  for (const FileText& file : files) {
    STRIA_ASSIGN(OutputTarget target, resolve_output(file.path));
    if (target.folder)
      target.folder =
          folders.try_emplace({target.folder->device(), target.folder->inode()}, target.folder)
              .first->second;
    targets.push_back(std::move(target));
  }
  OutputSet set;
  for (const OutputTarget& target : targets)
    if (const auto same = set.add(target))
      return invalid_argument("{} and {} are the same file", targets[*same].shown, target.shown);
  return targets;
}

}  // namespace

Status write_all(int descriptor, std::string_view bytes, const std::string& shown) {
  const WriteSignalsBlocked blocked;
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd wanted{descriptor, POLLOUT, 0};
      const auto limit = std::chrono::milliseconds(kPipePatience).count();
      if (::poll(&wanted, 1, static_cast<int>(limit)) == 0)
        return make_error(StatusCode::deadline_exceeded,
                          "cannot write {}: whoever reads it has taken nothing for {} s", shown,
                          kPipePatience.count());
    } else if (errno != EINTR) {
      return write_error(shown, errno);
    }
  }
  return Status();
}

Status write_file(const fs::path& path, std::string_view bytes) {
  TemporaryBatch batch;
  STRIA_ASSIGN(OutputTarget target, resolve_output(path));
  std::vector<Staged> one;
  STRIA_ASSIGN(Staged file, stage(std::move(target), bytes, batch));
  if (!file.made) return write_directly(file);
  one.push_back(std::move(file));
  return rename_all(one, batch);
}

Result<bool> write_new_file(const fs::path& path, std::string_view bytes) {
  TemporaryBatch batch;
  STRIA_ASSIGN(OutputTarget target, resolve_output(path));
  if (target.old || target.kind != OutputTarget::Kind::replaced) return false;
  STRIA_ASSIGN(Staged file, stage(std::move(target), bytes, batch));
  const int folder = file.target.folder->descriptor();
  const SignalsWait wait;
  // A link is never made over a file. Where there are no links, the name is looked at once more.
  if (::linkat(folder, file.made->name().c_str(), folder, file.target.name.c_str(), 0) == 0)
    return true;
  if (errno == EEXIST) return false;
  struct stat info{};
  if (::fstatat(folder, file.target.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return false;
  STRIA_RETURN_IF_ERROR(rename_over(file));
  return true;
}

Status write_files(std::span<const FileText> files, const fs::path& folder) {
  STRIA_ASSIGN(MadeFolders made, make_folders(folder));
  STRIA_ASSIGN(std::vector<OutputTarget> targets, resolve_all(files));
  TemporaryBatch batch;
  std::vector<Staged> staged;
  for (size_t i = 0; i < files.size(); ++i) {
    STRIA_ASSIGN(Staged next, stage(std::move(targets[i]), files[i].text, batch));
    staged.push_back(std::move(next));
  }
  for (const Staged& file : staged)
    if (!file.made) STRIA_RETURN_IF_ERROR(write_directly(file));
  STRIA_RETURN_IF_ERROR(rename_all(staged, batch));
  made.keep();
  return Status();
}

Status check_writable(const fs::path& path) { return resolve_output(path).status(); }

Status check_folder_writable(const fs::path& folder) {
  std::error_code error;
  fs::path there = fs::absolute(folder, error);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const std::string shown = "'" + shown_name(folder.string()) + "'";
  if (!fs::is_directory(there, error))
    return invalid_argument("cannot make the folder {}: '{}' is no folder", shown,
                            shown_name(there.string()));
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return make_error(StatusCode::permission_denied, "cannot write into the folder {}: {}", shown,
                      std::strerror(errno));
  return Status();
}

}  // namespace stria
