// SPDX-License-Identifier: Apache-2.0
// Keeps a device at work while the host queues what is to be timed. Starting a small kernel takes
// the host longer than the kernel takes the device. On an idle device, a row of such kernels would
// wait for the host, and their times would be the host's.
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

// For one thread at a time.
class BusyDevice {
 public:
  explicit BusyDevice(const Device& device);
  // Starts copies between two buffers of the device that take at least so many nanoseconds, and
  // returns at once. The event is done after them. The first call takes memory for the copies and
  // keeps it: 2 * kBytes, or for long times up to 2 * kMostBytes if the device has as much (while
  // it takes more, the old memory stays, too). Afterwards the device's caches hold parts of it.
  Result<hal::Event> start(double ns);

  // Calls `queue(event)`, which gives work to the device that waits for `event`. The work begins
  // after the device has been at other work for `ns` or longer: until all of it is queued, unless
  // that takes kMostNs. Calls `queue` again if it took the host longer than expected. Returns its
  // last result, which has a wait().
  template <typename Queue>
  auto behind(double ns, const Queue& queue) -> std::invoke_result_t<Queue, const hal::Event&>;

  static constexpr uint64_t kBytes = uint64_t{64} << 20, kMostBytes = uint64_t{512} << 20;
  static constexpr double kMostNs = 20e6;

 private:
  using Clock = std::chrono::steady_clock;

  struct Copy {
    hal::Buffer from, to;
    uint64_t bytes = 0;  // of each buffer; 0: there is none yet
    double ns = 0;
  };
  // Takes the memory, and the time of a copy.
  Result<Copy> timed_copy(uint64_t bytes) const;
  Result<hal::Event> run(const Copy& copy, hal::Waits waits) const;
  // Does, before copies for `ns` begin, what takes long and leaves the device without work.
  Status prepare(double ns);
  Result<hal::Event> run_for(double ns) const;

  const hal::Device device_;
  hal::Executor executor_;
  Copy copy_;
  double least_ns_ = 0;   // what the host was found to need
  bool may_grow_ = true;  // the device has not been out of memory
};

template <typename Queue>
auto BusyDevice::behind(double ns, const Queue& queue)
    -> std::invoke_result_t<Queue, const hal::Event&> {
  for (;;) {
    const double busy_ns = std::min(kMostNs, std::max(ns, least_ns_));
    STRIA_RETURN_IF_ERROR(prepare(busy_ns));
    const Clock::time_point begin = Clock::now();
    STRIA_ASSIGN(const hal::Event ahead, run_for(busy_ns));
    auto out = queue(ahead);
    if (!out.ok()) return out;
    const double taken = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    if (taken < busy_ns || busy_ns >= kMostNs) return out;
    STRIA_RETURN_IF_ERROR(out->wait());
    least_ns_ = 2 * taken;
  }
}

}  // namespace stria
