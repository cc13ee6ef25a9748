// SPDX-License-Identifier: Apache-2.0
// Work for the queues: `body()` runs on one of them some time after `waits` are over; what it
// throws fails the event.
#pragma once

#include <memory>
#include <utility>

#include "queue.h"
#include "stria/sdk/event.h"

namespace stria::slow_device {

template <typename Body>
sdk::Ref<sdk::Event> queued(const sdk::Host& host, const sdk::Ref<sdk::Tracker>& tracker,
                            Queues& queues, sdk::Waits waits, Body body) {
  auto start = [&queues, shared = std::make_shared<Body>(std::move(body))](
                   const sdk::Ref<sdk::StartedWork>& work) {
    queues.push([work, body = shared]() mutable {
      const uint64_t begin = sdk::now_ns();
      sdk::Outcome outcome = sdk::outcome_of_call([&] { (*body)(); });
      const uint64_t end = sdk::now_ns();
      body.reset();
      work->finish(std::move(outcome), begin, end);
    });
  };
  return sdk::start_when(host, tracker, waits, std::move(start));
}

}  // namespace stria::slow_device
