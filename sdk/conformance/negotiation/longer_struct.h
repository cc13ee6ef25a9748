// SPDX-License-Identifier: Apache-2.0
// What a host of a later release gives: structs that are longer than those of today, and extension
// structs that nobody knows.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "stria/hal/boundary/info.h"
#include "stria/plugin.h"

namespace stria::conformance {

// `value` with `more` bytes behind it that mean something to its maker alone.
template <typename T>
class LongerStruct {
 public:
  LongerStruct(T value, size_t more, unsigned char filling = 0xff)
      : words_((sizeof(T) + more + 7) / 8), filling_(filling) {
    value.size = sizeof(T) + more;
    std::memset(words_.data(), filling, words_.size() * 8);
    std::memcpy(static_cast<void*>(words_.data()), &value, sizeof value);
  }
  T* get() { return reinterpret_cast<T*>(words_.data()); }
  // Whether nobody has written behind the first `bytes`.
  bool is_untouched_behind(size_t bytes) const {
    const auto* all = reinterpret_cast<const unsigned char*>(words_.data());
    for (size_t i = bytes; i < words_.size() * 8; ++i)
      if (all[i] != filling_) return false;
    return true;
  }

 private:
  std::vector<uint64_t> words_;
  unsigned char filling_;
};

// A chain of extension structs for `next`.
class UnknownChain {
 public:
  explicit UnknownChain(size_t length) : links_(length) {
    for (size_t i = 0; i < length; ++i) {
      links_[i].size = sizeof(Link);
      links_[i].next = i + 1 < length ? &links_[i + 1] : nullptr;
      links_[i].name = hal::to_c("nobody.knows_this");
      std::memset(links_[i].rest, 0xee, sizeof links_[i].rest);
    }
    before_ = links_;
  }
  UnknownChain(const UnknownChain&) = delete;
  UnknownChain& operator=(const UnknownChain&) = delete;
  const void* first() const { return links_.data(); }
  bool is_untouched() const {
    return std::memcmp(links_.data(), before_.data(), links_.size() * sizeof(Link)) == 0;
  }

 private:
  struct Link {
    uint64_t size;
    const void* next;
    stria_string name;
    unsigned char rest[40];
  };
  std::vector<Link> links_, before_;
};

}  // namespace stria::conformance
