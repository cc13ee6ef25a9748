// SPDX-License-Identifier: Apache-2.0
// What a call has broken is said of the case in which it was called.
#include "suite/call_record.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace stria::conformance {
namespace {

TEST(CallRecord, EachCaseHasItsOwnFault) {
  CallRecord& record = *CallRecord::create();
  EXPECT_EQ(record.take_case_fault(), "");
  record.add_fault(Slot::executor_copy, "copy returns an error without a message");
  record.add_fault(Slot::executor_copy, "copy lets an exception out");
  EXPECT_EQ(record.take_case_fault(), "copy returns an error without a message");
  EXPECT_EQ(record.take_case_fault(), "");
  // A later case, another fault of the same slot.
  record.add_fault(Slot::executor_copy, "copy returns an error whose code is 99");
  EXPECT_EQ(record.take_case_fault(), "copy returns an error whose code is 99");
  // The first of all is kept for the case that is about the slot.
  const SlotRecord& slot = record.slots[static_cast<int>(Slot::executor_copy)];
  EXPECT_EQ(slot.faults, 3u);
  EXPECT_EQ(slot.fault.get(), "copy returns an error without a message");
}

TEST(CallRecord, LongTextsAreCut) {
  CallRecord& record = *CallRecord::create();
  record.add_fault(Slot::driver_open, std::string(3 * kFaultBytes, 'x'));
  EXPECT_EQ(record.take_case_fault(), std::string(kFaultBytes - 1, 'x'));
  record.add_fault(Slot::driver_open, "short");
  EXPECT_EQ(record.take_case_fault(), "short");
}

TEST(CallRecord, ReasonsOfInterpretedKernelsAreCounted) {
  CallRecord& record = *CallRecord::create();
  record.add_interpreted("no fp64", 1);
  record.add_interpreted(std::string(3 * kFaultBytes, 'x'), 2);
  record.add_interpreted("no fp64", 3);
  record.add_interpreted(std::string(3 * kFaultBytes, 'x'), 1);
  EXPECT_EQ(record.interpreted[0].reason.get(), "no fp64");
  EXPECT_EQ(record.interpreted[0].kernels, 4u);
  EXPECT_EQ(record.interpreted[1].kernels, 3u);
  EXPECT_EQ(record.interpreted[2].kernels, 0u);
  // More reasons than are told apart: of those the number alone.
  for (int n = 0; n < 2 * kReasons; ++n) record.add_interpreted("reason " + std::to_string(n), 1);
  EXPECT_EQ(record.interpreted_kernels, 7u + 2 * kReasons);
  EXPECT_EQ(record.interpreted[kReasons - 1].reason.get(),
            "reason " + std::to_string(kReasons - 3));
}

// A process that is gone has left a fault, and has died while it wrote another one.
TEST(CallRecord, WhatTheLastProcessLeftIsForgotten) {
  CallRecord& record = *CallRecord::create();
  const pid_t child = ::fork();
  if (child == 0) {
    record.add_fault(Slot::event_wait, "of the last process");
    SlotRecord& slot = record.slots[static_cast<int>(Slot::event_query)];
    slot.case_fault.state = FirstText::being_written;
    slot.fault.state = FirstText::being_written;
    ++slot.case_faults;
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  record.forget_last_process();
  EXPECT_EQ(record.take_case_fault(), "");
  record.add_fault(Slot::event_query, "of this one");
  EXPECT_EQ(record.take_case_fault(), "of this one");
  EXPECT_EQ(record.slots[static_cast<int>(Slot::event_query)].fault.get(), "of this one");
  EXPECT_EQ(record.slots[static_cast<int>(Slot::event_wait)].fault.get(), "of the last process");
}

TEST(CallRecord, ThreadsAtOnceGiveOneWholeText) {
  CallRecord& record = *CallRecord::create();
  for (int round = 0; round < 200; ++round) {
    std::vector<std::thread> threads;
    for (const char letter : {'a', 'b', 'c', 'd'})
      threads.emplace_back(
          [&record, letter] { record.add_fault(Slot::kernel_run, std::string(300, letter)); });
    for (std::thread& thread : threads) thread.join();
    const std::string text = record.take_case_fault();
    ASSERT_EQ(text.size(), 300u);
    EXPECT_EQ(text, std::string(300, text[0]));
  }
  EXPECT_EQ(record.slots[static_cast<int>(Slot::kernel_run)].faults, 800u);
}

}  // namespace
}  // namespace stria::conformance
