// SPDX-License-Identifier: Apache-2.0
// A piece of work by each slot that takes events to wait for and gives one.
#pragma once

#include <optional>
#include <vector>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {

class AsyncWork {
 public:
  // compiler.build, executor.submit, executor.copy, executor.fill, kernel.run, buffer.map_current,
  // buffer.map_discard, buffer.map_read.
  static const std::vector<Slot>& slots();

  // unsupported: the device has no such work, which is no fault.
  static Status make(Subject& subject, Slot slot, AsyncWork& out);
  // Begins it; what there was of an earlier one has ended. unimplemented: there is no such slot.
  Result<Event> begin(std::span<stria_event* const> waits);
  // Of work that was not done, as a wait failed: nothing of it is to be seen. What must be given
  // back all the same is given back. `code` is what the wait failed with.
  Status check_not_done(StatusCode code);
  // Of work that is done.
  Status check_done();

 private:
  Result<Event> begin_build(std::span<stria_event* const> waits);
  Result<Event> begin_run(std::span<stria_event* const> waits);
  // What is left of a mapping is unmapped.
  Status unmap();

  static constexpr uint64_t kBytes = 300;
  Slot slot_ = Slot::count;
  std::optional<DeviceWork> work_;
  std::optional<SmallProgram> program_;
  LoadedSmall loaded_;
  SmallTensors tensors_;
  Executor executor_;
  Compiler compiler_;
  Library library_;
  Buffer source_, target_;
  void* mapped_ = nullptr;
  bool is_mapped_ = false;
};

}  // namespace stria::conformance
