// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/busy_device.h"

#include <cstddef>
#include <utility>

#include "stria/runtime/inside.h"

namespace stria {

namespace {

// Each copy costs the host time of its own: for a longer time they are longer, not more.
constexpr double kMostCopies = 8;

}  // namespace

BusyDevice::BusyDevice(const Device& device) : device_(Inside::hal_device(device)) {}

Result<hal::Event> BusyDevice::copy(hal::Waits waits) const {
  return executor_.copy(from_, 0, to_, 0, bytes_, waits);
}

Status BusyDevice::take_memory(uint64_t bytes) {
  STRIA_ASSIGN(hal::Buffer from, device_.allocate(bytes));
  STRIA_ASSIGN(hal::Buffer to, device_.allocate(bytes));
  for (const std::byte zero{}; const hal::Buffer& buffer : {from, to}) {
    STRIA_ASSIGN(const hal::Event filled, executor_.fill(buffer, 0, bytes, {&zero, 1}));
    STRIA_RETURN_IF_ERROR(filled.wait());
  }
  from_ = std::move(from);
  to_ = std::move(to);
  bytes_ = bytes;
  STRIA_ASSIGN(const hal::Event first, copy({}));  // warms up
  STRIA_RETURN_IF_ERROR(first.wait());
  const Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(const hal::Event once, copy({}));
  STRIA_RETURN_IF_ERROR(once.wait());
  const double host = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  STRIA_ASSIGN(const uint64_t device, once.duration_ns());
  copy_ns_ = std::max(1.0, device > 0 ? static_cast<double>(device) : host);
  return Status();
}

Result<hal::Event> BusyDevice::start(double ns) {
  if (bytes_ == 0) {
    STRIA_ASSIGN(executor_, device_.create_executor());
    STRIA_RETURN_IF_ERROR(take_memory(kBytes));
  }
  while (may_grow_ && ns > kMostCopies * copy_ns_ && 2 * bytes_ <= kMostBytes)
    may_grow_ = take_memory(2 * bytes_).ok();
  STRIA_ASSIGN(hal::Event last, copy({}));
  for (double taken = copy_ns_; taken < ns; taken += copy_ns_) {
    STRIA_ASSIGN(last, copy({&last, 1}));
  }
  return last;
}

}  // namespace stria
