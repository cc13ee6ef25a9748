// SPDX-License-Identifier: Apache-2.0
// How many threads a host's work gets.
#pragma once

#include <filesystem>

#include "stria/base/status.h"

namespace stria::hal {

// Cores that the control groups of this process allow it, at most `cores`: the least of the quotas
// of its group and those around it, versions 1 and 2, a part of a core counting as one. What cannot
// be read limits nothing. `root`: where /proc and /sys lie.
unsigned quota_cores(unsigned cores, const std::filesystem::path& root = "/");

// The number in the environment variable STRIA_THREADS; 0 if there is none or the process is
// elevated. invalid_argument for anything but a number from 1 to kMaxThreads.
inline constexpr unsigned kMaxThreads = 4096;
Result<unsigned> threads_asked_for();

}  // namespace stria::hal
