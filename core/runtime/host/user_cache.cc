// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/user_cache.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "stria/base/cache_folder.h"

namespace stria {

hal::DiskCache& user_cache(const char* kind, uint64_t limit) {
  static auto& mutex = *new std::mutex;
  // By folder and kind: a cache counts once what is there.
  static auto& all = *new std::map<std::pair<std::filesystem::path, std::string>, hal::DiskCache>;
  const std::filesystem::path folder = user_cache_folder();
  const std::lock_guard<std::mutex> lock(mutex);
  return all.try_emplace({folder, kind}, folder.empty() ? folder : folder / kind, limit)
      .first->second;
}

}  // namespace stria
