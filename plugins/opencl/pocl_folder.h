// SPDX-License-Identifier: Apache-2.0
// The folder in which PoCL keeps what it builds and loads as code. PoCL trusts it blindly: it ends
// the process if the folder cannot be written, if its files may not be run, or if a file is
// damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stria/base/status.h"

namespace stria::opencl {

// What a folder must still have room for. A kernel takes some ten KiB, a program more.
inline constexpr uint64_t kPoclFolderBytes = uint64_t{32} << 20;

// Tries what PoCL will do there: makes the folder, writes a file, maps it as code. A failure says
// what is wrong: "'/x' is on a file system that does not run programs (noexec)".
Status check_code_folder(const std::filesystem::path& folder);
// The same for room alone; quick.
Status check_room(const std::filesystem::path& folder);

// A folder of this plugin's own, for one process at a time. A later process finds in it what an
// earlier one has left, without what was changed since the last record(): if a file was cut off, or
// somebody else wrote it, all of its program is removed. Thread-safe.
class PoclFolder {
 public:
  // Beyond so many bytes, the programs that were unused for the longest time are removed.
  static constexpr uint64_t kLimit = 128 << 20;

  // The first folder below `base` that no process holds: "BASE/0", "BASE/1", … `base` is made if it
  // does not exist. The folder is held until the object or the process ends. Something of such a
  // name that is a link, no folder, or not this user's alone is left as it is. `base` and the
  // folder above it must be this user's alone.
  static Result<std::unique_ptr<PoclFolder>> take(const std::filesystem::path& base,
                                                  uint64_t limit = kLimit);
  ~PoclFolder();
  PoclFolder(const PoclFolder&) = delete;
  PoclFolder& operator=(const PoclFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Notes what is there now as good.
  void record();

 private:
  PoclFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path list_path() const;
  // Removes what is not as recorded, then what is too much.
  void check(uint64_t limit);

  const std::filesystem::path path_;
  const int lock_;  // a file's descriptor
  std::mutex mutex_;
  std::string recorded_;  // guarded by mutex_
};

}  // namespace stria::opencl
