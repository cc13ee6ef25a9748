// SPDX-License-Identifier: Apache-2.0
// What earlier processes have found out about a device. Plain values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"

namespace stria {

// It has failed not long ago, and `auto` does without it for a while.
struct Quarantine {
  enum class Cause {
    lost,   // in the middle of its work
    wrong,  // its results were compared, and were wrong
  };
  Cause cause = Cause::lost;
  std::string program;   // that it was at
  std::string why;       // one line
  int in_a_row = 1;      // failures since a run that ended well
  double ago_s = 0;      // since the last one
  double left_s = 0;     // until `auto` may take it again
  std::string again_at;  // the same as a time of day here: "14:05"

  bool operator==(const Quarantine&) const = default;
  // "lost 3 minutes ago in 'matmul': the link is down; again from 14:05"
  STRIA_API std::string to_string() const;
};
// "lost", "wrong".
STRIA_API std::string_view name_of(Quarantine::Cause cause);

// What `stria conform` has said of the plugin, as it lies on the disk, on this device.
struct Conformance {
  int level = 0;  // up to which all holds; 0: not even the first
  int asked = 0;  // up to which it was looked at
  // Of the cases that keep the next level from being reached.
  std::vector<std::string> failures;  // the first ones, at most kMostFailures
  size_t failed = 0;                  // how many there are
  std::string day;                    // YYYY-MM-DD

  static constexpr size_t kMostFailures = 3;
  // 1: it loads, 2: its results are right. Whoever fails these is not taken unasked.
  static constexpr int kNeeded = 2;
  bool is_objection() const { return level < (asked < kNeeded ? asked : kNeeded); }

  bool operator==(const Conformance&) const = default;
  // "conforms to level 2 (2026-11-29)"; "fails level 1 of conformance: P.load and 3 more
  // (2026-11-29)"
  STRIA_API std::string to_string() const;
};

}  // namespace stria
