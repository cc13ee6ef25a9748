// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/busy_device.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "stria/runtime/inside.h"

namespace stria {

BusyDevice::BusyDevice(const Device& device) : device_(Inside::hal_device(device)) {}

Result<hal::Event> BusyDevice::copy(hal::Waits waits) const {
  return executor_.copy(from_, 0, to_, 0, kBytes, waits);
}

Result<hal::Event> BusyDevice::start(double ns) {
  using Clock = std::chrono::steady_clock;
  if (!to_.valid()) {
    STRIA_ASSIGN(executor_, device_.create_executor());
    STRIA_ASSIGN(from_, device_.allocate(kBytes));
    STRIA_ASSIGN(to_, device_.allocate(kBytes));
    for (const std::byte zero{}; const hal::Buffer& buffer : {from_, to_}) {
      STRIA_ASSIGN(const hal::Event filled, executor_.fill(buffer, 0, kBytes, {&zero, 1}));
      STRIA_RETURN_IF_ERROR(filled.wait());
    }
  }
  if (copy_ns_ == 0) {
    STRIA_ASSIGN(const hal::Event first, copy({}));  // warms up
    STRIA_RETURN_IF_ERROR(first.wait());
    const Clock::time_point begin = Clock::now();
    STRIA_ASSIGN(const hal::Event once, copy({}));
    STRIA_RETURN_IF_ERROR(once.wait());
    const double host = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    STRIA_ASSIGN(const uint64_t device, once.duration_ns());
    copy_ns_ = std::max(1.0, device > 0 ? static_cast<double>(device) : host);
  }
  STRIA_ASSIGN(hal::Event last, copy({}));
  for (double taken = copy_ns_; taken < ns; taken += copy_ns_) {
    STRIA_ASSIGN(last, copy({&last, 1}));
  }
  return last;
}

}  // namespace stria
