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

// The first text that somebody has put there since it was last empty. Threads and processes share
// it: one of them may die while it writes, so nobody waits for another.
struct FirstText {
  enum State : int32_t { empty, being_written, written };
  std::atomic<int32_t> state;
  char text[kFaultBytes];

  void put(std::string_view what);
  std::string get() const;  // "" if nothing is there, or not yet
  std::string take();       // get(), and what was there is gone
};

struct SlotRecord {
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> failures;  // calls that returned an error
  std::atomic<uint64_t> slow;      // of a slot that must not block: calls over kSlowMs
  std::atomic<uint64_t> longest_ns;
  std::atomic<uint32_t> faults;  // rules of the boundary that a call broke
  FirstText fault;               // the first one of all
  // Of the running case: what an earlier one broke is not what this one is about.
  std::atomic<uint32_t> case_faults;
  FirstText case_fault;
};

// A call that has not come back.
struct OpenCall {
  std::atomic<int32_t> slot;  // Slot + 1; 0: none
  std::atomic<uint64_t> since_ns;
  std::atomic<uint64_t> until_ns;  // of a wait: when it gives up; UINT64_MAX: never
};
inline constexpr int kOpenCalls = 64;

// Kernels that a plugin leaves to the host for one reason.
struct Interpreted {
  FirstText reason;
  std::atomic<uint64_t> kernels;
};
inline constexpr int kReasons = 8;  // that are told apart

// Plain memory: made by zeroing.
struct CallRecord {
  char device[256];  // id and name of the device that was opened; "" if none was
  // Of the programs that cases ran; and those of them that the plugin leaves to the host.
  std::atomic<uint64_t> kernels, interpreted_kernels;
  Interpreted interpreted[kReasons];  // in the order in which they were met; empty ones come last
  // The most bytes that device.allocate has refused with STRIA_OUT_OF_MEMORY in the running case.
  std::atomic<uint64_t> refused_bytes;
  SlotRecord slots[kSlots];
  OpenCall open[kOpenCalls];

  // In shared, zeroed memory, for this process and the children it forks from now on; null if there
  // is none. It is never given back.
  static CallRecord* create();
  // Before a process begins to use it: what the last one has left open or half written.
  void forget_last_process();
  // Counts kernels that the plugin leaves to the host, with what it says of the reason.
  void add_interpreted(std::string_view reason, uint64_t count);
  // Writes down that a call of `slot` broke a rule.
  void add_fault(Slot slot, std::string_view what);
  // The first fault since the last call, which is forgotten; "" if there was none. It carries its
  // rule (suite/rules.h).
  std::string take_case_fault();
  // "executor.copy, event.wait": what was called and has not come back; "" if nothing.
  std::string open_calls() const;
  std::vector<Slot> open_slots() const;
};

// A call that returns so late is not one that returns at once. A machine that is busy may take a
// thread away for so long that one call looks slow: a rule is broken by several of a slot.
inline constexpr int kSlowMs = 50;  // times the user's patience

}  // namespace stria::conformance
