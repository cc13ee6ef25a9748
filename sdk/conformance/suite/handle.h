// SPDX-License-Identifier: Apache-2.0
// An object of the plugin's, given back through its noun's `release`.
#pragma once

#include <utility>

#include "stria/plugin.h"
#include "suite/call_record.h"

namespace stria::conformance {

// Movable, not copyable. Not thread-safe. Of an event, `maker` is the slot whose work it stands
// for: what fails then is that work, not the slot that was asked how it went.
template <typename T>
class Handle {
 public:
  using Release = void (*)(T*);
  Handle() = default;
  Handle(T* object, Release release, Slot maker = Slot::count)
      : object_(object), release_(release), maker_(maker) {}
  Handle(Handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        release_(other.release_),
        maker_(other.maker_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
      release_ = other.release_;
      maker_ = other.maker_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  T* get() const { return object_; }
  Slot maker() const { return maker_; }  // Slot::count: not said
  explicit operator bool() const { return object_ != nullptr; }
  // Gives it back now.
  void reset() {
    if (object_) release_(std::exchange(object_, nullptr));
  }
  // Gives it to the caller, who gives it back, or does not.
  T* take() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
  Release release_ = nullptr;
  Slot maker_ = Slot::count;
};

using Driver = Handle<stria_driver>;
using Device = Handle<stria_device>;
using Compiler = Handle<stria_compiler>;
using Library = Handle<stria_library>;
using Kernel = Handle<stria_kernel>;
using Executor = Handle<stria_executor>;
using Buffer = Handle<stria_buffer>;
using Event = Handle<stria_event>;

}  // namespace stria::conformance
