// SPDX-License-Identifier: Apache-2.0
// Where work runs: on the device's queue. The driver's calls are in vendor_queue.c.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "stria/sdk/event.h"
#include "vendor_queue.h"

namespace acme_plugin {

class Queue {
 public:
  // Throws what the driver says.
  explicit Queue(const stria::sdk::Host& host);
  ~Queue() { acme_queue_destroy(queue_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // body() on the queue's thread, after `waits` are over. What it throws fails the event, which
  // `tracker` counts until it is done.
  template <typename Body>
  stria::sdk::Ref<stria::sdk::Event> run(const stria::sdk::Ref<stria::sdk::Tracker>& tracker,
                                         stria::sdk::Waits waits, Body body) {
    // A std::function is copied, and what `body` holds need not be.
    auto shared = std::make_shared<Body>(std::move(body));
    return start(tracker, waits, [shared]() mutable {
      const auto held = std::move(shared);  // goes before the event is done
      (*held)();
    });
  }

 private:
  stria::sdk::Ref<stria::sdk::Event> start(const stria::sdk::Ref<stria::sdk::Tracker>& tracker,
                                           stria::sdk::Waits waits, std::function<void()> body);

  const stria::sdk::Host& host_;
  acme_queue* queue_ = nullptr;
};

}  // namespace acme_plugin
