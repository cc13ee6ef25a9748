// SPDX-License-Identifier: Apache-2.0
// Bytes behind which nothing can be read or written: whoever goes on crashes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace stria::conformance {

// A copy of `count` bytes whose last one is the last of a page. Aligned as far as `count` is a
// multiple of the alignment.
class BytesAtPageEnd {
 public:
  BytesAtPageEnd(const void* from, size_t count) : count_(count) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    mapped_ = (count / page + 2) * page;
    void* memory =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<std::byte*>(memory);
    end_ = memory_ + mapped_ - page;
    ::mprotect(end_, page, PROT_NONE);
    if (count > 0) std::memcpy(end_ - count, from, count);
  }
  ~BytesAtPageEnd() {
    if (memory_) ::munmap(memory_, mapped_);
  }
  BytesAtPageEnd(const BytesAtPageEnd&) = delete;
  BytesAtPageEnd& operator=(const BytesAtPageEnd&) = delete;

  // Null if there was no memory.
  void* get() const { return memory_ ? end_ - count_ : nullptr; }

 private:
  size_t count_, mapped_ = 0;
  std::byte* memory_ = nullptr;
  std::byte* end_ = nullptr;
};

// A struct of the boundary that ends after `bytes`, as an older maker's does.
template <typename T>
class StructAtPageEnd {
 public:
  StructAtPageEnd(T value, size_t bytes) : bytes_((value.size = bytes, &value), bytes) {}
  // Null if there was no memory.
  T* get() const { return static_cast<T*>(bytes_.get()); }

 private:
  BytesAtPageEnd bytes_;
};

// A text without a zero behind it.
class TextAtPageEnd {
 public:
  explicit TextAtPageEnd(std::string_view text)
      : bytes_(text.data(), text.size()), size_(text.size()) {}
  std::string_view view() const { return {static_cast<const char*>(bytes_.get()), size_}; }

 private:
  BytesAtPageEnd bytes_;
  size_t size_;
};

}  // namespace stria::conformance
