// SPDX-License-Identifier: Apache-2.0
// Reading structs that another build made: a member counts only if it lies within `size`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace stria::hal {

// Whether an object could lie there. Null, a small number and what is not aligned are no addresses:
// that is all that can be said without reading.
inline bool is_address(const void* pointer, size_t alignment = 1) {
  constexpr uintptr_t kFirstPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return address >= kFirstPage && address % alignment == 0;
}

}  // namespace stria::hal

// struct_.member if the struct is long enough to have it, else `otherwise`.
#define STRIA_SIZED(struct_, member, otherwise)                                                \
  ((struct_).size >=                                                                           \
           offsetof(std::remove_cvref_t<decltype(struct_)>, member) + sizeof((struct_).member) \
       ? (struct_).member                                                                      \
       : (otherwise))
