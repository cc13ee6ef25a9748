// SPDX-License-Identifier: Apache-2.0
// Events of queues that are not the plugin's, as file descriptors that poll readable from when they
// are done. For any plugin: the waiting is done by a thread of the host's process.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "stria/experimental.h"
#include "stria/sdk/event.h"

namespace stria::sdk {

// A descriptor that is closed with it.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor) : descriptor_(descriptor) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&&) = delete;
  ~OwnDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

inline Error system_failure(const char* what) {
  const int error = errno;
  return Error(Failure{error == EMFILE || error == ENFILE || error == ENOMEM
                           ? STRIA_OUT_OF_MEMORY
                           : STRIA_INVALID_ARGUMENT,
                       what, error, std::strerror(error), "", ""});
}

// Done when `foreign` polls readable, or is closed at its other end. A thread waits for it.
inline Ref<Event> descriptor_event(const Host& host, const stria_foreign_event& foreign) {
  if (foreign.kind != STRIA_EVENT_DESCRIPTOR)
    throw Error(STRIA_UNSUPPORTED,
                "this device takes no events of the kind " + std::to_string(foreign.kind));
  OwnDescriptor own(::fcntl(foreign.descriptor, F_DUPFD_CLOEXEC, 0));
  if (own.get() < 0) throw system_failure("an event's descriptor cannot be used");
  return start_when(host, host.tracker(), {}, [&own](const Ref<StartedWork>& work) {
    std::thread([work, own = std::move(own)] {
      pollfd wait{own.get(), POLLIN, 0};
      while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
      }
      work->finish(nullptr);
    }).detach();
  });
}

// A descriptor that polls readable when `event` is done; the caller's.
inline stria_foreign_event event_descriptor(Event& event) {
  OwnDescriptor given(::eventfd(0, EFD_CLOEXEC));
  if (given.get() < 0) throw system_failure("no descriptor for an event");
  // The callback's own: the receiver may have closed the other by then.
  OwnDescriptor own(::fcntl(given.get(), F_DUPFD_CLOEXEC, 0));
  if (own.get() < 0) throw system_failure("no descriptor for an event");
  event.on_done(
      [](void* state, const stria_error*) {
        const OwnDescriptor mine(static_cast<int>(reinterpret_cast<intptr_t>(state)));
        const uint64_t one = 1;
        while (::write(mine.get(), &one, sizeof one) < 0 && errno == EINTR) {
        }
      },
      reinterpret_cast<void*>(static_cast<intptr_t>(own.release())));
  stria_foreign_event out{};
  out.size = sizeof out;
  out.kind = STRIA_EVENT_DESCRIPTOR;
  out.descriptor = given.release();
  return out;
}

}  // namespace stria::sdk
