// SPDX-License-Identifier: Apache-2.0
// What a plugin finds in its process and has to leave as it is. The host looks before it lets a
// plugin's code run and after.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <string>

namespace stria::hal {

// A file that a descriptor stands for; two are equal if they are the same file.
struct OpenFile {
  dev_t device = 0;
  ino_t inode = 0;
  bool open = false;
  static OpenFile of(int descriptor);
  bool operator==(const OpenFile&) const = default;
};

struct ProcessState {
  pid_t process = 0;
  OpenFile out, err;
  std::string folder;  // the working folder
  uid_t user = 0;
  gid_t group = 0;
  int mask = -1;  // of modes of new files; -1: not known (no /proc)
  // Limits that may be raised, not lowered.
  static constexpr std::array kLimits = {RLIMIT_AS,    RLIMIT_CORE,  RLIMIT_CPU,    RLIMIT_DATA,
                                         RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_NPROC};
  std::array<rlim_t, kLimits.size()> limits{};

  // Of the calling process. Changes nothing, not even for a moment: other threads may work.
  static ProcessState now();

  // What `after` has otherwise, as what the plugin did; "" if nothing. Of a copy of the process
  // that somebody has forked nothing is said: compare `process`.
  std::string changed_to(const ProcessState& after) const;
};

}  // namespace stria::hal
