// SPDX-License-Identifier: Apache-2.0
// Where work runs: on the host's worker threads.
#pragma once

#include <utility>

#include "stria/sdk/event.h"

namespace acme_plugin {

class Queue {
 public:
  explicit Queue(const stria::sdk::Host& host) : host_(host) {}
  // body() when `waits` are over, on a worker thread. What it throws fails the event, which
  // `tracker` counts until it is done.
  template <typename Body>
  stria::sdk::Ref<stria::sdk::Event> run(const stria::sdk::Ref<stria::sdk::Tracker>& tracker,
                                         stria::sdk::Waits waits, Body body) {
    return stria::sdk::schedule(host_, tracker, waits, std::move(body));
  }

 private:
  const stria::sdk::Host& host_;
};

}  // namespace acme_plugin
