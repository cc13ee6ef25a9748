// SPDX-License-Identifier: Apache-2.0
// What this process keeps for the next one, by kind.
#pragma once

#include <cstdint>

#include "stria/hal/files/disk_cache.h"

namespace stria {

// The cache in the folder `kind` of the user's cache folder, of at most `limit` bytes; the same for
// each call as long as that folder is the same. It keeps nothing if there is no such folder. Never
// destroyed: a thread may use it when the process ends. Safe from any thread.
hal::DiskCache& user_cache(const char* kind, uint64_t limit = hal::DiskCache::kLimit);

}  // namespace stria
