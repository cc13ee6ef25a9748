// SPDX-License-Identifier: Apache-2.0
// Where a plugin's calls of a sink end: what it sends is checked and copied, nothing is thrown into
// its frames, and the first thing that was wrong is kept.
#pragma once

#include <vector>

#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/info.h"

namespace stria::hal {

template <typename T>
class Received {
 public:
  // Far beyond what any plugin has: one that never stops sending does not take all memory.
  static constexpr size_t kMaxItems = size_t{1} << 18;

  // The sink for `From` structs; its state is a Received.
  template <typename From>
  static void sink(void* state, const From* from) noexcept {
    static_cast<Received*>(state)->add([&]() -> Result<T> {
      if (!from) return make_error(kPluginFault, "the sink was given nothing");
      return copy_of(*from);
    });
  }
  static void text_sink(void* state, stria_string name, stria_string text) noexcept {
    static_cast<Received*>(state)->add([&] { return copy_of(name, text); });
  }

  std::vector<T> items;
  Status fault;

 private:
  template <typename Copy>
  void add(Copy copy) noexcept {
    if (!fault.ok()) return;
    try {
      if (items.size() == kMaxItems) {
        fault = make_error(kPluginFault, "the sink was called more than {} times", kMaxItems);
        return;
      }
      Result<T> item = copy();
      if (item.ok())
        items.push_back(std::move(item).value());
      else
        fault = item.status();
    } catch (...) {
      fault = Status(StatusCode::out_of_memory, "no host memory");  // short: allocates nothing
    }
  }
};

}  // namespace stria::hal
