// SPDX-License-Identifier: Apache-2.0
#include "stria/base/output_target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "stria/base/input_file.h"
#include "stria/base/shown_text.h"

namespace stria {
namespace {

constexpr int kMaxLinks = 40;  // as many as the kernel follows

// The folder's part of a path, and the name in it; a name of "" means the folder itself.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool names_folder(const std::string& name) { return name.empty() || name == "." || name == ".."; }

// What a link in /proc says is a name, but what it leads to is a descriptor.
bool is_proc(int folder) {
  struct statfs info{};
  return ::fstatfs(folder, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

std::string in_quotes(const std::string& path) { return "'" + shown_name(path) + "'"; }

// Behind all links; errno's number if that fails.
int follow(std::string path, OutputTarget& target, std::string& final_path) {
  for (int links = 0; links <= kMaxLinks; ++links) {
    final_path = path;
    if (const int descriptor = descriptor_named(path);
        descriptor >= 0 && ::fcntl(descriptor, F_GETFD) >= 0) {
      target.kind = OutputTarget::Kind::descriptor;
      target.descriptor = descriptor;
      return 0;
    }
    auto [folder, name] = split_path(path);
    target.folder = OutputFolder::open(folder.empty() ? "." : folder);
    if (!target.folder) return errno;
    if (names_folder(name)) return EISDIR;
    target.name = name;
    struct stat info{};
    if (::fstatat(target.folder->descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? 0 : errno;
    if (S_ISLNK(info.st_mode) && is_proc(target.folder->descriptor())) {
      // A descriptor of another process, or a folder such as /proc/self.
      if (::fstatat(target.folder->descriptor(), name.c_str(), &info, 0) != 0) return errno;
    }
    if (!S_ISLNK(info.st_mode)) {
      if (S_ISDIR(info.st_mode)) return EISDIR;
      // In /proc nothing can be made beside it.
      if (!S_ISREG(info.st_mode) || is_proc(target.folder->descriptor()))
        target.kind = OutputTarget::Kind::direct;
      target.old = {info.st_dev, info.st_ino, info.st_mode, info.st_uid, info.st_gid};
      return 0;
    }
    char text[PATH_MAX];
    const ssize_t length =
        ::readlinkat(target.folder->descriptor(), name.c_str(), text, sizeof text);
    if (length < 0) return errno;
    const std::string to(text, static_cast<size_t>(length));
    path = to.starts_with('/') ? to : folder + to;
  }
  return ELOOP;
}

}  // namespace

std::shared_ptr<OutputFolder> OutputFolder::open_at(int parent, const std::filesystem::path& path) {
  int descriptor = ::openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that may not be listed can still be written to.
  if (descriptor < 0 && errno == EACCES)
    descriptor = ::openat(parent, path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat info{};
  if (descriptor < 0) return nullptr;
  if (::fstat(descriptor, &info) != 0) {
    ::close(descriptor);
    return nullptr;
  }
  return std::shared_ptr<OutputFolder>(new OutputFolder(descriptor, info.st_dev, info.st_ino));
}

std::shared_ptr<OutputFolder> OutputFolder::open(const std::filesystem::path& path) {
  return open_at(AT_FDCWD, path);
}

std::shared_ptr<OutputFolder> OutputFolder::open_in(const OutputFolder& parent,
                                                    const std::filesystem::path& name) {
  return open_at(parent.descriptor(), name);
}

OutputFolder::~OutputFolder() { ::close(descriptor_); }

std::optional<OutputSet::Key> OutputSet::key_of(const OutputTarget& target) {
  if (target.kind == OutputTarget::Kind::descriptor) {
    struct stat info{};
    if (::fstat(target.descriptor, &info) == 0 && S_ISREG(info.st_mode))
      return Key{info.st_dev, info.st_ino, "", -1};
    return Key{0, 0, "", target.descriptor};
  }
  if (!target.old) return Key{target.folder->device(), target.folder->inode(), target.name, -1};
  if (S_ISCHR(target.old->mode)) return std::nullopt;
  return Key{target.old->device, target.old->inode, "", -1};
}

std::optional<size_t> OutputSet::find(const OutputTarget& target) const {
  const std::optional<Key> key = key_of(target);
  const auto found = key ? files_.find(*key) : files_.end();
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<size_t> OutputSet::add(const OutputTarget& target) {
  const size_t number = count_++;
  const std::optional<Key> key = key_of(target);
  if (!key) return std::nullopt;
  const auto [at, is_new] = files_.emplace(*key, number);
  return is_new ? std::nullopt : std::optional(at->second);
}

Status write_error(const std::string& shown, int number) {
  StatusCode code = StatusCode::invalid_argument;
  if (number == ENOENT) code = StatusCode::not_found;
  if (number == EACCES || number == EPERM || number == EROFS) code = StatusCode::permission_denied;
  return make_error(code, "cannot write {}: {}", shown, std::strerror(number));
}

Result<OutputTarget> resolve_output(const std::filesystem::path& path) {
  OutputTarget target;
  target.shown = in_quotes(path.string());
  if (path.empty()) return invalid_argument("cannot write '': the name of a file is empty");
  std::string behind;
  const int number = follow(path.string(), target, behind);
  if (number == ELOOP)
    return invalid_argument("cannot write {}: its links lead in a circle", target.shown);
  if (behind != path.string() && target.kind != OutputTarget::Kind::descriptor)
    target.shown += " (a link to " + in_quotes(behind) + ")";
  if (number == EISDIR) return invalid_argument("cannot write {}: it is a folder", target.shown);
  if (number != 0) return write_error(target.shown, number);
  if (target.kind == OutputTarget::Kind::descriptor) return target;
  if (target.old && S_ISBLK(target.old->mode))
    return invalid_argument("cannot write {}: it is a block device", target.shown);
  if (target.old && S_ISSOCK(target.old->mode))
    return invalid_argument("cannot write {}: it is a socket", target.shown);
  const int folder = target.folder->descriptor();
  if (target.old && ::faccessat(folder, target.name.c_str(), W_OK, AT_EACCESS) != 0)
    return write_error(target.shown, errno);
  if (target.kind == OutputTarget::Kind::replaced &&
      ::faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
    return make_error(StatusCode::permission_denied,
                      "cannot write {}: no file can be made in its folder: {}", target.shown,
                      std::strerror(errno));
  if (!target.old && target.name.size() > NAME_MAX) return write_error(target.shown, ENAMETOOLONG);
  return target;
}

std::optional<OutputTarget> resolve_input(const std::filesystem::path& path) {
  OutputTarget target;
  target.shown = in_quotes(path.string());
  std::string behind;
  if (path.empty() || follow(path.string(), target, behind) != 0) return std::nullopt;
  if (!target.old && target.kind != OutputTarget::Kind::descriptor) return std::nullopt;
  return target;
}

}  // namespace stria
