// SPDX-License-Identifier: Apache-2.0
// Memory of the structures of stria/reader.h: they stay where they are, and go all at once.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <new>
#include <string_view>
#include <type_traits>

#include "stria/plugin.h"

namespace stria::reader {

inline stria_string text_of(std::string_view text) { return {text.data(), text.size()}; }

class Arena {
 public:
  // A list of pointers or of bare structs.
  template <typename T>
  struct List {
    T* data = nullptr;
    uint64_t count = 0;
  };

  // A struct that says its size; the rest is 0.
  template <typename T>
  T* make() {
    T* out = new (memory_.allocate(sizeof(T), alignof(T))) T();
    out->size = sizeof(T);
    return out;
  }
  template <typename T>
  T* copy(const T& from) {
    return new (memory_.allocate(sizeof(T), alignof(T))) T(from);
  }
  template <typename T, typename From, typename Convert>
  List<T> list(const From& from, const Convert& convert) {
    List<T> out;
    out.count = from.size();
    if (out.count == 0) return out;
    using Element = std::remove_const_t<T>;
    auto* data =
        static_cast<Element*>(memory_.allocate(out.count * sizeof(Element), alignof(Element)));
    Element* at = data;
    for (const auto& one : from) new (at++) Element(convert(one));
    out.data = data;
    return out;
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace stria::reader
