// SPDX-License-Identifier: Apache-2.0
// A fixed-size array on the stack for the usual few elements, on the heap for more: launches make
// these and must not pay for an allocation each.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace stria::hal {

template <typename T, size_t kUsual = 16>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > kUsual) many_.resize(size);
  }
  T* data() { return size_ > kUsual ? many_.data() : few_.data(); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  std::array<T, kUsual> few_;
  std::vector<T> many_;
};

}  // namespace stria::hal
