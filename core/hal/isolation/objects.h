// SPDX-License-Identifier: Apache-2.0
// What the host's numbers stand for in the plugin's process. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "stria/hal/device_state.h"
#include "stria/hal/isolation/messages.h"

namespace stria::hal::isolation {

class Objects {
 public:
  struct Object {
    Noun noun = Noun::event;
    void* handle = nullptr;
    sdk::Outcome failure;  // why there is no handle
    bool is_host_event = false;
  };

  // Throws Malformed if the number is taken.
  void add(Id id, Object object);
  // Throws Malformed if the number stands for nothing, or for something else, and the failure of
  // what could not be made.
  template <typename Handle>
  Handle* get(Id id, Noun noun) const {
    return static_cast<Handle*>(find(id, noun));
  }
  // Throws Malformed if the number stands for nothing.
  Object take(Id id);

 private:
  void* find(Id id, Noun noun) const;

  mutable std::mutex mutex_;
  std::unordered_map<Id, Object> all_;  // guarded by mutex_
};

}  // namespace stria::hal::isolation
