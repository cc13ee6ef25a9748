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

Result<hal::Event> BusyDevice::run(const Copy& copy, hal::Waits waits) const {
  return executor_.copy(copy.from, 0, copy.to, 0, copy.bytes, waits);
}

Result<BusyDevice::Copy> BusyDevice::timed_copy(uint64_t bytes) const {
  Copy out;
  out.bytes = bytes;
  STRIA_ASSIGN(out.from, device_.allocate(bytes));
  STRIA_ASSIGN(out.to, device_.allocate(bytes));
  for (const std::byte zero{}; const hal::Buffer& buffer : {out.from, out.to}) {
    STRIA_ASSIGN(const hal::Event filled, executor_.fill(buffer, 0, bytes, {&zero, 1}));
    STRIA_RETURN_IF_ERROR(filled.wait());
  }
  STRIA_ASSIGN(const hal::Event first, run(out, {}));  // warms up
  STRIA_RETURN_IF_ERROR(first.wait());
  const Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(const hal::Event once, run(out, {}));
  STRIA_RETURN_IF_ERROR(once.wait());
  const double host = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  STRIA_ASSIGN(const uint64_t device, once.duration_ns());
  out.ns = std::max(1.0, device > 0 ? static_cast<double>(device) : host);
  return out;
}

Status BusyDevice::prepare(double ns) {
  if (copy_.bytes == 0) {
    STRIA_ASSIGN(executor_, device_.create_executor());
    STRIA_ASSIGN(copy_, timed_copy(kBytes));
  }
  while (may_grow_ && ns > kMostCopies * copy_.ns && 2 * copy_.bytes <= kMostBytes) {
    Result<Copy> longer = timed_copy(2 * copy_.bytes);
    may_grow_ = longer.ok();
    if (longer.ok())
      copy_ = *std::move(longer);
    else if (longer.status().code() != StatusCode::out_of_memory)
      return longer.status();
  }
  return Status();
}

Result<hal::Event> BusyDevice::run_for(double ns) const {
  STRIA_ASSIGN(hal::Event last, run(copy_, {}));
  for (double taken = copy_.ns; taken < ns; taken += copy_.ns) {
    STRIA_ASSIGN(last, run(copy_, {&last, 1}));
  }
  return last;
}

Result<hal::Event> BusyDevice::start(double ns) {
  STRIA_RETURN_IF_ERROR(prepare(ns));
  return run_for(ns);
}

}  // namespace stria
