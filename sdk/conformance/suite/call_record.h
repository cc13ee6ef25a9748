// SPDX-License-Identifier: Apache-2.0
// What the suite's checks see of every call into the plugin. It lies in memory that parent and
// child share: what a child saw before it crashed is still there.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stria::conformance {

// Every slot of the boundary, in the order of slots.def.
enum class Slot : int {
#define SLOT(table, slot) table##_##slot,
#include "stria/hal/boundary/slots.def"
  count
};
inline constexpr int kSlots = static_cast<int>(Slot::count);
std::string_view name_of(Slot slot);  // "executor.copy"
// As stria/plugin.h says with "@blocks no".
bool must_not_block(Slot slot);

// Longest text of a fault that is kept.
inline constexpr int kFaultBytes = 400;

struct SlotRecord {
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> failures;  // calls that returned an error
  std::atomic<uint64_t> slow;  // of a slot that must not block: calls over kSlowNs of CPU-less time
  std::atomic<uint64_t> longest_ns;
  std::atomic<uint32_t> faults;  // rules of the boundary that a call broke
  char fault[kFaultBytes];       // the first one; written by who makes `faults` 1
};

// A call that has not come back.
struct OpenCall {
  std::atomic<int32_t> slot;  // Slot + 1; 0: none
  std::atomic<uint64_t> since_ns;
};
inline constexpr int kOpenCalls = 64;

// Plain memory: made by zeroing.
struct CallRecord {
  char device[256];  // id and name of the device that was opened; "" if none was
  // Of the programs that cases ran; and those of them that the plugin leaves to the host.
  std::atomic<uint64_t> kernels, interpreted_kernels;
  SlotRecord slots[kSlots];
  OpenCall open[kOpenCalls];

  // In shared, zeroed memory, for this process and the children it forks from now on; null if there
  // is none. It is never given back.
  static CallRecord* create();
  void forget_open_calls();
  // "executor.copy, event.wait": what was called and has not come back; "" if nothing.
  std::string open_calls() const;
};

// A call that returns so late is not one that returns at once. A machine that is busy may take a
// thread away for so long that one call looks slow: a rule is broken by several of a slot.
inline constexpr uint64_t kSlowNs = 50'000'000;

}  // namespace stria::conformance
