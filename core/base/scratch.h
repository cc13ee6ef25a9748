// SPDX-License-Identifier: Apache-2.0
// Memory for small containers that live as long as one piece of work: on the stack, and on the heap
// only from `kBytes` on. Give `resource()` to std::pmr containers declared after it. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>

namespace stria {

template <size_t kBytes>
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::pmr::memory_resource* resource() { return &resource_; }

 private:
  alignas(std::max_align_t) std::array<std::byte, kBytes> bytes_;
  std::pmr::monotonic_buffer_resource resource_{bytes_.data(), bytes_.size()};
};

}  // namespace stria
