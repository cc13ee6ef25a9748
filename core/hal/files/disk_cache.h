// SPDX-License-Identifier: Apache-2.0
// Bytes that outlive the process, in a folder of the user's: what the host's cache service of the
// plugin boundary keeps. Whatever is wrong with a file or the folder is a miss, never an error:
// what is kept here can be made again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace stria::hal {

// Thread-safe; several processes may use one folder.
class DiskCache {
 public:
  static constexpr uint64_t kLimit = 256 << 20;

  // `folder` is made at the first put, for its owner alone; "" keeps nothing. One that is not the
  // user's, or that others may write, is not used: values may be code. `limit`: bytes of all files;
  // beyond it those that were not used for the longest time go. A value of more than a quarter of
  // that is not kept.
  explicit DiskCache(std::filesystem::path folder, uint64_t limit = kLimit);

  // The value put under this key, if it is there and whole.
  std::optional<std::string> get(std::string_view key) const;
  // A reader sees the old value or the new one, never a part.
  void put(std::string_view key, std::string_view value);

 private:
  std::filesystem::path file_of(const std::string& digest) const;
  bool trusted() const;
  void trim();

  const std::filesystem::path folder_;
  const uint64_t limit_;
  std::mutex mutex_;
  // Guarded by mutex_: of all files when they were last counted and of those put since.
  std::optional<uint64_t> bytes_;
};

}  // namespace stria::hal
