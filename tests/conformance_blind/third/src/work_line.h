// SPDX-License-Identifier: Apache-2.0
// Where work runs: on a thread that does one job after the other.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "stria/sdk/event.h"

namespace third_chip {

class WorkLine {
 public:
  explicit WorkLine(const stria::sdk::Host& host);
  ~WorkLine();
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  // body() on the line's thread, after `waits` are over. What it throws fails the event, which
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
  class Jobs;

  stria::sdk::Ref<stria::sdk::Event> start(const stria::sdk::Ref<stria::sdk::Tracker>& tracker,
                                           stria::sdk::Waits waits, std::function<void()> body);

  const stria::sdk::Host& host_;
  const std::unique_ptr<Jobs> jobs_;
};

}  // namespace third_chip
