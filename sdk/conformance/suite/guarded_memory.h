// SPDX-License-Identifier: Apache-2.0
// Memory of the device for the tensors of one run, with guard bytes before and behind each. Who
// writes beside a tensor, or into one that is only read, is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stria/hal/device.h"
#include "suite/subject.h"

namespace stria::conformance {

struct GuardedTensor {
  std::string name;  // for messages
  uint64_t bytes = 0;
  uint64_t element_bytes = 1;
  std::span<const std::byte> contents;  // empty: bytes that no kernel would write
};

class GuardedMemory {
 public:
  enum class Layout {
    apart,     // each tensor in a buffer of its own, at a multiple of 256
    together,  // all in one buffer, each at an odd multiple of its element size
  };

  static Result<GuardedMemory> make(const hal::Device& device, std::vector<GuardedTensor> tensors,
                                    Layout layout);
  // Where each tensor lies, in their order.
  const std::vector<hal::Argument>& places() const { return places_; }

  // Puts contents and guards into the device's memory.
  Status write();
  // Gets all of it back.
  Status read();

  // After read(), of one tensor:
  std::span<const std::byte> contents(size_t tensor) const;
  Status check_guards(size_t tensor) const;
  // Guards and contents.
  Status check_unchanged(size_t tensor) const;

 private:
  struct Area {
    hal::Buffer buffer;
    Bytes expected, got;
  };
  std::vector<GuardedTensor> tensors_;
  std::vector<hal::Argument> places_;
  std::vector<size_t> areas_of_;  // of each tensor
  std::vector<Area> areas_;
};

}  // namespace stria::conformance
