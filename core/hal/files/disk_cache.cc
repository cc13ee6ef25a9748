// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/files/sha256.h"

namespace stria::hal {
namespace {

// Before the value: what tells a whole entry from a damaged one. `digest`: of the key.
std::string head_of(const std::string& digest, std::string_view value) {
  return fmt::format("stria cache 1\n{}\n{} bytes, {:016x}\n", digest, value.size(),
                     stable_hash(value));
}

constexpr size_t kMaxHead = 256;

}  // namespace

DiskCache::DiskCache(std::filesystem::path folder, uint64_t limit)
    : folder_(std::move(folder)), limit_(limit) {}

std::filesystem::path DiskCache::file_of(const std::string& digest) const {
  return folder_ / (digest + ".bin");
}

bool DiskCache::trusted() const {
  struct stat what{};
  return !folder_.empty() && lstat(folder_.c_str(), &what) == 0 && S_ISDIR(what.st_mode) &&
         what.st_uid == geteuid() && (what.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> DiskCache::get(std::string_view key) const {
  if (!trusted()) return std::nullopt;
  const std::string digest = sha256(key);
  const std::filesystem::path file = file_of(digest);
  Result<std::string> text = read_file(file, limit_ / 4 + kMaxHead, kNoPatience);
  if (!text.ok()) return std::nullopt;
  // The third line ends the head.
  size_t at = 0;
  for (int line = 0; line < 3 && at != std::string::npos; ++line) {
    at = text->find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos) return std::nullopt;
  std::string value = text->substr(at);
  if (text->compare(0, at, head_of(digest, value)) != 0) return std::nullopt;
  // When it was used last decides what goes.
  (void)utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return value;
}

void DiskCache::put(std::string_view key, std::string_view value) {
  if (folder_.empty() || value.size() > limit_ / 4) return;
  (void)make_cache_folder(folder_);
  if (!trusted()) return;
  const std::string digest = sha256(key), head = head_of(digest, value);
  if (!write_cache_file(file_of(digest), head + std::string(value)).ok()) return;
  std::lock_guard lock(mutex_);
  if (bytes_) *bytes_ += head.size() + value.size();
  if (!bytes_ || *bytes_ > limit_) trim();
}

void DiskCache::trim() {
  struct Entry {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    uint64_t bytes = 0;
  };
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(folder_, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    // Another process may remove it meanwhile.
    std::error_code gone;
    Entry entry{at->path(), at->last_write_time(gone), 0};
    if (!gone) entry.bytes = at->file_size(gone);
    if (gone) continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (bytes > limit_) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    // Some room, so that the next one does not count all again.
    for (const Entry& entry : entries) {
      if (bytes <= limit_ - limit_ / 4) break;
      if (std::filesystem::remove(entry.path, error)) bytes -= entry.bytes;
    }
  }
  bytes_ = bytes;
}

}  // namespace stria::hal
