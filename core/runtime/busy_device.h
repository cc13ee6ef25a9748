// SPDX-License-Identifier: Apache-2.0
// Keeps a device at work while the host queues what is to be timed. Starting a small kernel takes
// the host longer than the device needs for it: a row of such kernels on an idle device has it wait
// for the host, and their times are the host's.
#pragma once

#include "stria/base/status.h"
#include "stria/hal/buffer.h"
#include "stria/hal/device.h"
#include "stria/hal/event.h"
#include "stria/runtime/device.h"

namespace stria {

// Not for several threads.
class BusyDevice {
 public:
  explicit BusyDevice(const Device& device);
  // Starts copies between two buffers of the device, which take at least so many nanoseconds, and
  // returns at once. The event is done behind them. Memory for the copies, kBytes each, is taken
  // the first time and kept; the device's caches hold parts of it afterwards.
  Result<hal::Event> start(double ns);

  static constexpr uint64_t kBytes = uint64_t{64} << 20;

 private:
  Result<hal::Event> copy(hal::Waits waits) const;

  const hal::Device device_;
  hal::Executor executor_;
  hal::Buffer from_, to_;
  double copy_ns_ = 0;  // of one copy; 0: not known yet
};

}  // namespace stria
