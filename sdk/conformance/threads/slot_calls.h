// SPDX-License-Identifier: Apache-2.0
// One call of each slot that does not block, ready to be made at any moment: in a callback, or
// while the device has other work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {

class SlotCalls {
 public:
  // The slots that may be called so. driver.create is one too, but makes what only a blocking slot
  // gives back.
  static const std::vector<Slot>& all();

  // Makes all that the call needs, with slots that may block.
  static Status make(Subject& subject, Slot slot, SlotCalls& out);
  // Makes the call. What it starts waits for `wait`, if that is not null; nothing is waited for.
  // unimplemented: the plugin has no such slot.
  Status call(stria_event* wait);
  // Waits for what the call started, now that its wait is over; a failure if it did anything wrong.
  Status finish();

 private:
  Status call_device(std::span<stria_event* const> waits);
  Status call_compiler(std::span<stria_event* const> waits);
  Status call_executor(std::span<stria_event* const> waits);
  Status call_buffer(std::span<stria_event* const> waits);
  Status call_event(stria_event* wait);

  static constexpr uint64_t kBytes = 512;
  Slot slot_ = Slot::count;
  std::optional<DeviceWork> work_;
  std::optional<SmallProgram> program_;
  std::string device_id_;
  std::optional<LoadedSmall> loaded_;
  std::optional<SmallTensors> tensors_;
  std::optional<SmallLaunches> launches_;
  Executor executor_, spare_executor_, made_executor_;
  Compiler compiler_, made_compiler_;
  Library library_;
  Buffer source_, target_;
  DeviceWork::Mapping mapping_;
  Event done_, spare_event_, made_event_, started_;
  int called_back_ = 0;
};

}  // namespace stria::conformance
