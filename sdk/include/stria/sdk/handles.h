// SPDX-License-Identifier: Apache-2.0
// Between the opaque handles of the C side and the helper's objects.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "stria/plugin.h"
#include "stria/sdk/device.h"

namespace stria::sdk {

// What the opaque handles of the C side are.
struct DriverHandle {
  std::unique_ptr<Host> host;  // outlives the driver
  std::unique_ptr<Driver> driver;
};
struct LibraryHandle : Object {
  Ref<Event> done;
  Ref<Library> library;  // set when `done` is, if the build went well
};
struct KernelHandle : Object {
  Ref<Executor> executor;
  Ref<Kernel> kernel;
  KernelInfo info;
};

template <typename To, typename From>
To& as(From* handle) {
  return *reinterpret_cast<To*>(handle);
}
template <typename Handle, typename Object>
Handle* give(Ref<Object> object) {
  return reinterpret_cast<Handle*>(object.detach());
}
inline Waits waits_of(stria_event* const* events, uint64_t count) {
  return {reinterpret_cast<Event* const*>(events), count};
}
inline bool has_range(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  return offset <= buffer.size() && bytes <= buffer.size() - offset;
}
inline void check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* what) {
  if (has_range(buffer, offset, bytes)) return;
  throw Error(STRIA_INVALID_ARGUMENT, std::string(what) + ": " + std::to_string(bytes) +
                                          " bytes at offset " + std::to_string(offset) +
                                          " of a buffer of " + std::to_string(buffer.size()) +
                                          " bytes");
}

// Writes a struct that the host's side made, as far as that knows it; `size` and `next` stay.
template <typename T>
void copy_out(const T& from, T* to) {
  constexpr uint64_t kHeader = 2 * sizeof(uint64_t);  // size, next
  const uint64_t bytes = std::min<uint64_t>(to->size, sizeof(T));
  if (bytes > kHeader)
    std::memcpy(reinterpret_cast<char*>(to) + kHeader,
                reinterpret_cast<const char*>(&from) + kHeader, bytes - kHeader);
}

}  // namespace stria::sdk
