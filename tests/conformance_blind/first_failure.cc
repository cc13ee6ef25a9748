// SPDX-License-Identifier: Apache-2.0
#include "first_failure.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "stria/sdk/error.h"
#include "stria/sdk/object.h"

namespace stria::blind {
namespace {

struct Gate final : sdk::Object {
  Gate(const sdk::Host& host, uint64_t waits) : event(sdk::make<sdk::Event>(host)), open(waits) {}
  void note(const stria_error* error) {
    if (error) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!first) first = sdk::outcome_of(error);
    }
    if (open.fetch_sub(1) == 1) event->signal(first);
  }

  const sdk::Ref<sdk::Event> event;
  std::atomic<uint64_t> open;
  std::mutex mutex;
  sdk::Outcome first;  // guarded by mutex until all are done
};

}  // namespace

sdk::Ref<sdk::Event> first_failure_in_time(const sdk::Host& host, sdk::Waits waits) {
  const auto gate = sdk::make<Gate>(host, waits.count);
  for (uint64_t i = 0; i < waits.count; ++i)
    waits.events[i]->on_done(
        [](void* state, const stria_error* error) {
          sdk::Ref<Gate>::adopt(static_cast<Gate*>(state))->note(error);
        },
        sdk::Ref<Gate>(gate).detach());
  return gate->event;
}

}  // namespace stria::blind
