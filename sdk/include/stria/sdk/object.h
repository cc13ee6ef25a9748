// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects of a plugin: the host's handles and work in flight share them.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace stria::sdk {

// Born with no reference; deleted with its last one.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  void add_reference() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() const {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  mutable std::atomic<uint32_t> references_{0};
};

// One reference to a T, or null.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->add_reference();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT: to a base
  template <typename U>
  Ref(Ref<U>&& other) : object_(other.detach()) {}  // NOLINT: to a base
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->drop_reference();
  }

  // Takes over a reference that detach() left.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Leaves the reference to the caller.
  T* detach() { return std::exchange(object_, nullptr); }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> make(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace stria::sdk
