// SPDX-License-Identifier: Apache-2.0
#include "pocl_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::opencl {
namespace {

namespace fs = std::filesystem;

// Of this PoCL asks by itself when it looks for what to remove: it changes with each use.
constexpr const char* kLastUsed = "last_accessed";
constexpr const char* kListHead = "stria pocl folder 1";

std::string shown(const fs::path& path) { return "'" + shown_name(path.string()) + "'"; }

// What changes with each change of the file. The time of the last change cannot be set.
std::string state_of(const struct stat& info) {
  return fmt::format("{} {} {}.{:09} {}.{:09}", info.st_size, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

// A program of PoCL's: "XY/REST_OF_ITS_HASH".
struct Program {
  fs::path path;
  std::map<std::string, std::string> files;  // state by path below the folder
  uint64_t bytes = 0;
  int64_t used = 0;  // when, in seconds
};

struct Contents {
  std::vector<Program> programs;
  std::vector<fs::path> strays;  // what is no program
};

Program read_program(const fs::path& top, const fs::path& path) {
  Program out;
  out.path = path;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(path, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    struct stat info{};
    if (lstat(at->path().c_str(), &info) != 0 || S_ISDIR(info.st_mode)) continue;
    out.bytes += static_cast<uint64_t>(info.st_size);
    out.used = std::max<int64_t>(out.used, info.st_mtim.tv_sec);
    if (at->path().filename() == kLastUsed) continue;
    out.files[at->path().lexically_relative(top).string()] = state_of(info);
  }
  // Of that nothing can be recorded.
  if (error) out.files["unreadable " + error.message()] = std::to_string(::getpid());
  return out;
}

Contents read_contents(const fs::path& top) {
  Contents out;
  std::error_code error;
  for (auto group = fs::directory_iterator(top, error); !error && group != fs::directory_iterator();
       group.increment(error)) {
    std::error_code no_folder;
    if (!fs::is_directory(group->symlink_status(no_folder))) {
      out.strays.push_back(group->path());
      continue;
    }
    for (auto at = fs::directory_iterator(group->path(), no_folder);
         !no_folder && at != fs::directory_iterator(); at.increment(no_folder)) {
      if (fs::is_directory(at->symlink_status()))
        out.programs.push_back(read_program(top, at->path()));
      else
        out.strays.push_back(at->path());
    }
  }
  return out;
}

std::set<std::string> lines_of(const Program& program) {
  std::set<std::string> out;
  for (const auto& [path, state] : program.files) out.insert(state + " " + path);
  return out;
}

// "XY/HASH" of a line "… XY/HASH/kernel/file".
std::string program_of(const std::string& line) {
  const size_t begin = line.rfind(' ') + 1, first = line.find('/', begin);
  const size_t end = first == std::string::npos ? first : line.find('/', first + 1);
  return line.substr(begin, end == std::string::npos ? end : end - begin);
}

std::string list_of(const Contents& contents) {
  std::string out = std::string(kListHead) + "\n";
  for (const Program& program : contents.programs)
    for (const std::string& line : lines_of(program)) out += line + "\n";
  return out;
}

Status failure(const fs::path& path, std::string_view what, int number) {
  return make_error(StatusCode::unavailable, "{} {}: {}", shown(path), what, std::strerror(number));
}

// What others may write, others may have run here; and a link leads where nothing is ours to
// remove.
Status check_own_folder(const fs::path& folder) {
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0) return failure(folder, "cannot be looked at", errno);
  if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
      (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return {};
  return make_error(StatusCode::unavailable,
                    "{} is not a folder that belongs to this user and that nobody else may write",
                    shown(folder));
}

// Writes the file and maps it as code; closes nothing.
Status try_code(int file, const fs::path& folder) {
  const std::string bytes(size_t{1} << 16, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure(folder, "takes no file", count < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(count);
  }
  void* const code = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (code == MAP_FAILED) {
    if (errno == EPERM || errno == EACCES)
      return make_error(StatusCode::unavailable,
                        "{} is on a file system that does not run programs (noexec)",
                        shown(folder));
    return failure(folder, "holds no code", errno);
  }
  ::munmap(code, bytes.size());
  return {};
}

}  // namespace

Status check_room(const fs::path& folder) {
  struct statvfs room{};
  if (::statvfs(folder.c_str(), &room) != 0) return failure(folder, "cannot be looked at", errno);
  const uint64_t bytes = uint64_t{room.f_bavail} * room.f_frsize;
  if (bytes < kPoclFolderBytes)
    return make_error(StatusCode::unavailable,
                      "{} is on a file system with {} MiB left, and {} MiB are needed",
                      shown(folder), bytes >> 20, kPoclFolderBytes >> 20);
  // Some file systems count no files, and say 0 of them.
  if (room.f_files > 0 && room.f_favail < 64)
    return make_error(StatusCode::unavailable, "{} is on a file system with room for {} files",
                      shown(folder), room.f_favail);
  return {};
}

Status check_code_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) return failure(folder, "cannot be made", error.value());
  STRIA_RETURN_IF_ERROR(check_room(folder));
  std::string name = (folder / "stria_probe_XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return failure(folder, "takes no file", errno);
  Status status = try_code(file, folder);
  ::close(file);
  ::unlink(name.c_str());
  return status;
}

Result<std::unique_ptr<PoclFolder>> PoclFolder::take(const fs::path& base, uint64_t limit) {
  // The one above first: then nobody else can change what is below it.
  for (const fs::path& folder : {base.parent_path(), base}) {
    if (const int error = make_cache_folder(folder); error != 0)
      return failure(folder, "cannot be made", error);
    STRIA_RETURN_IF_ERROR(check_own_folder(folder));
  }
  STRIA_RETURN_IF_ERROR(check_code_folder(base));
  constexpr int kMost = 1000;
  for (int n = 0; n < kMost; ++n) {
    const fs::path path = base / std::to_string(n);
    const std::string lock_path = path.string() + ".lock";
    const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return failure(lock_path, "cannot be opened", errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      ::close(lock);
      if (why == EWOULDBLOCK) continue;
      return failure(lock_path, "cannot be locked", why);
    }
    std::unique_ptr<PoclFolder> taken(new PoclFolder(path, lock));
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return failure(path, "cannot be made", errno);
    if (!check_own_folder(path).ok()) continue;
    taken->check(limit);
    STRIA_RETURN_IF_ERROR(check_code_folder(path));
    return taken;
  }
  return make_error(StatusCode::unavailable,
                    "{} folders in {} are held by processes or not this user's alone", kMost,
                    shown(base));
}

PoclFolder::~PoclFolder() { ::close(lock_); }

fs::path PoclFolder::list_path() const { return path_.string() + ".list"; }

void PoclFolder::check(uint64_t limit) {
  std::lock_guard lock(mutex_);
  std::error_code error;
  const Result<std::string> text = read_file(list_path(), size_t{64} << 20, kNoPatience);
  std::map<std::string, std::set<std::string>> recorded;  // lines by program
  if (text.ok()) {
    // A list that was cut off ends with a line that is no file's.
    std::vector<std::string> lines = split(*text, '\n');
    if (lines[0] == kListHead)
      for (size_t n = 1; n < lines.size(); ++n) recorded[program_of(lines[n])].insert(lines[n]);
  }
  Contents contents = read_contents(path_);
  for (const fs::path& stray : contents.strays) fs::remove_all(stray, error);
  uint64_t bytes = 0;
  std::erase_if(contents.programs, [&](const Program& program) {
    // No file more, none less, none other.
    const bool whole = lines_of(program) == recorded[program.path.lexically_relative(path_)];
    if (!whole) fs::remove_all(program.path, error);
    if (whole) bytes += program.bytes;
    return !whole;
  });
  if (bytes > limit) {
    std::sort(contents.programs.begin(), contents.programs.end(),
              [](const Program& a, const Program& b) { return a.used < b.used; });
    // Some room, so that the next process does not begin with the same.
    for (const Program& program : contents.programs) {
      if (bytes <= limit - limit / 4) break;
      fs::remove_all(program.path, error);
      bytes -= program.bytes;
    }
  }
}

void PoclFolder::record() {
  std::lock_guard lock(mutex_);
  std::string list = list_of(read_contents(path_));
  if (list == recorded_) return;
  // If it cannot be written, the next process begins with less.
  if (write_cache_file(list_path(), list).ok()) recorded_ = std::move(list);
}

}  // namespace stria::opencl
