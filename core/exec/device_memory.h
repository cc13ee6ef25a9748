// SPDX-License-Identifier: Apache-2.0
// The memory of one open device: who has how much of it, and what happens when it runs out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/device.h"

namespace stria::exec {

// A buffer that is alive.
struct LiveBuffer {
  std::string name;    // what is in it: "tensor 'A' fp32[64, 32]"
  std::string holder;  // who has it: "the caller"
  uint64_t bytes = 0;
};

// Buffers that an owner keeps for later use, and can do without.
class Reserve {
 public:
  virtual ~Reserve() = default;
  // Drops them; true if there were any. From any thread.
  virtual bool release() = 0;
};

// A handle; safe from any thread. It keeps its device open. All copies of one handle share their
// list of buffers.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(hal::Device device);

  const hal::Device& device() const;
  // A buffer with undefined contents. If the device has no memory for it, all reserves are
  // released, and the allocation is tried once more. Then out_of_memory names what was asked for,
  // the device's limit, and every live buffer of at least a hundredth of the live bytes.
  Result<hal::Buffer> allocate(uint64_t bytes, std::string name, std::string holder) const;
  // Largest first.
  std::vector<LiveBuffer> live() const;
  // Asked to release when memory runs out, as long as it lives.
  void add_reserve(std::weak_ptr<Reserve> reserve) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria::exec
