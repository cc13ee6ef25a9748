// SPDX-License-Identifier: Apache-2.0
// The services table as one plugin gets it: what it takes through it and does not give back is its
// leak.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "stria/hal/host.h"
#include "stria/plugin.h"

namespace stria::hal {

class Services {
 public:
  explicit Services(std::shared_ptr<Host> host);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  // Valid as long as this object.
  const stria_host_services& table() const { return table_; }
  Host& host() const { return *host_; }
  // "2 allocations (4096 bytes), 1 kernel": what is taken now; "" if that is nothing.
  std::string taken() const;

 private:
  struct Slots;
  // Both may be negative: given back.
  void take(uint64_t bytes, int64_t allocations);

  std::shared_ptr<Host> host_;
  std::atomic<int64_t> allocations_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<int64_t> programs_{0};
  std::atomic<int64_t> kernels_{0};
  stria_host_services table_{};
};

}  // namespace stria::hal
