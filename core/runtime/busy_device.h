// SPDX-License-Identifier: Apache-2.0
// Keeps a device at work while the host queues what is to be timed. Starting a small kernel takes
// the host longer than the device needs for it: a row of such kernels on an idle device has it wait
// for the host, and their times are the host's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <type_traits>

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
  // returns at once. The event is done behind them. Memory for the copies, 2 * kBytes or for long
  // times up to 2 * kMostBytes where the device has as much, is taken the first time and kept; the
  // device's caches hold parts of it afterwards.
  Result<hal::Event> start(double ns);

  // What `queue(event)` gives the device to do behind `event` begins when the device has been at
  // other work for `ns`, or for longer: until all is queued, unless that takes kMostNs. Calls
  // `queue` again where it took the host longer than expected; returns its last result, which has
  // a wait().
  template <typename Queue>
  auto behind(double ns, const Queue& queue) -> std::invoke_result_t<Queue, const hal::Event&>;

  static constexpr uint64_t kBytes = uint64_t{64} << 20, kMostBytes = uint64_t{512} << 20;
  static constexpr double kMostNs = 20e6;

 private:
  using Clock = std::chrono::steady_clock;

  Status take_memory(uint64_t bytes);
  Result<hal::Event> copy(hal::Waits waits) const;

  const hal::Device device_;
  hal::Executor executor_;
  hal::Buffer from_, to_;
  uint64_t bytes_ = 0;   // of each
  double copy_ns_ = 0;   // of one copy
  double least_ns_ = 0;  // what the host was found to need
  bool may_grow_ = true;
};

template <typename Queue>
auto BusyDevice::behind(double ns, const Queue& queue)
    -> std::invoke_result_t<Queue, const hal::Event&> {
  for (;;) {
    const double busy_ns = std::min(kMostNs, std::max(ns, least_ns_));
    const Clock::time_point begin = Clock::now();
    STRIA_ASSIGN(const hal::Event ahead, start(busy_ns));
    auto out = queue(ahead);
    if (!out.ok()) return out;
    const double taken = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    if (taken < busy_ns || busy_ns >= kMostNs) return out;
    STRIA_RETURN_IF_ERROR(out->wait());
    least_ns_ = 2 * taken;
  }
}

}  // namespace stria
