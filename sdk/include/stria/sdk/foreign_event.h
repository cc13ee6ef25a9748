// SPDX-License-Identifier: Apache-2.0
// Events of queues that are not the plugin's, as file descriptors that poll readable from when they
// are done. For any plugin: the waiting is done by a thread of the plugin's driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stria/experimental.h"
#include "stria/sdk/descriptor_waits.h"
#include "stria/sdk/event.h"

namespace stria::sdk {

// Done when `foreign` polls readable, or is closed at its other end. STRIA_CANCELLED if the driver
// ends before that.
inline Ref<Event> descriptor_event(const Host& host, const stria_foreign_event& foreign) {
  if (foreign.kind != STRIA_EVENT_DESCRIPTOR)
    throw Error(STRIA_UNSUPPORTED,
                "this device takes no events of the kind " + std::to_string(foreign.kind));
  OwnDescriptor own(::fcntl(foreign.descriptor, F_DUPFD_CLOEXEC, 0));
  if (own.get() < 0)
    throw system_failure("descriptor " + std::to_string(foreign.descriptor) +
                         " of an event cannot be used");
  DescriptorWaits& waits = host.descriptor_waits();
  waits.start();
  return start_when(host, host.tracker(), {}, [&own, &waits](const Ref<StartedWork>& work) {
    waits.add(std::move(own), [work](bool readable) {
      work->finish(readable ? nullptr
                            : Error(STRIA_CANCELLED,
                                    "the driver ended before a foreign event was "
                                    "done")
                                  .outcome());
    });
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
