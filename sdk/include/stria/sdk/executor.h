// SPDX-License-Identifier: Apache-2.0
// Work on a device: kernels, copies and fills, ordered by events alone. The helper's own executor
// does them on the host's worker threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/buffer.h"
#include "stria/sdk/event.h"
#include "stria/sdk/library.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

struct Argument {
  Ref<Buffer> buffer;
  uint64_t offset = 0;  // bytes, within the buffer
};

struct Launch {
  Ref<Kernel> kernel;
  std::vector<Argument> arguments;
  // Positions of earlier launches of the same batch that this one waits for; valid during a call.
  const uint32_t* after = nullptr;
  uint64_t after_count = 0;
};

// Of a launch that could not be started: it fails, and nobody but its batch may end it.
class RefusedEvent final : public Event {
 public:
  using Event::Event;
  bool is_work() const override { return true; }
  void refuse(Outcome why) { signal(std::move(why)); }
};

// Thread-safe. Ranges and argument counts have been checked by the slots.
class Executor : public Object {
 public:
  explicit Executor(const Host& host) : host_(host), tracker_(make<Tracker>(host.tracker())) {}

  // Starts `kernel` when `waits` are over.
  virtual Ref<Event> launch(const Ref<Kernel>& kernel, std::vector<Argument> arguments,
                            Waits waits) {
    return schedule(host_, tracker_, waits, [kernel, arguments = std::move(arguments)] {
      // Most kernels have few arguments: no allocation for a small kernel.
      stria_memory few[16];
      std::vector<stria_memory> many;
      stria_memory* memory = few;
      if (arguments.size() > 16) {
        many.resize(arguments.size());
        memory = many.data();
      }
      for (size_t i = 0; i < arguments.size(); ++i)
        memory[i] = {arguments[i].buffer->data() + arguments[i].offset,
                     arguments[i].buffer->size() - arguments[i].offset};
      kernel->run(memory, arguments.size());
    });
  }
  // A batch: a launch waits for `waits` and for those that its `after` names. The event is done
  // when all are, with the failure of the first failed one, and `each` gets one event per launch,
  // unless it is null. A device that takes many launches at once overrides it.
  virtual Ref<Event> submit(std::vector<Launch> launches, Waits waits,
                            std::vector<Ref<Event>>* each) {
    if (launches.empty()) return when_done(host_, tracker_, waits);
    // Once a launch has started, the batch cannot be refused any more: what is needed to say that a
    // later one has failed is made before.
    const bool several = launches.size() > 1;
    Ref<RefusedEvent> refused = several ? make<RefusedEvent>(host_) : Ref<RefusedEvent>();
    Ref<JoinWork> all =
        several ? make<JoinWork>(host_, tracker_, launches.size()) : Ref<JoinWork>();
    std::vector<Ref<Event>> events;
    events.reserve(launches.size());
    if (each) each->reserve(launches.size());
    std::vector<Event*> list;
    for (Launch& launch : launches) {
      try {
        list.clear();
        for (uint64_t a = 0; a < launch.after_count; ++a)
          list.push_back(events[launch.after[a]].get());
        // What waits for an earlier launch waits for the batch's events through it.
        const Waits own = list.empty() ? waits : Waits{list.data(), list.size()};
        events.push_back(this->launch(launch.kernel, std::move(launch.arguments), own));
      } catch (...) {
        if (events.empty()) throw;
        refused->refuse(outcome_of_call([] { throw; }));
        events.resize(launches.size(), refused);
        break;
      }
    }
    if (each) *each = events;
    if (!several) return events[0];
    all->begin(events);
    return all;
  }
  virtual Ref<Event> copy(Argument source, Argument target, uint64_t bytes, Waits waits) {
    return schedule(host_, tracker_, waits,
                    [source = std::move(source), target = std::move(target), bytes] {
                      if (bytes > 0)
                        std::memcpy(target.buffer->data() + target.offset,
                                    source.buffer->data() + source.offset, bytes);
                    });
  }
  virtual Ref<Event> fill(Argument target, uint64_t bytes, std::vector<std::byte> pattern,
                          Waits waits) {
    return schedule(host_, tracker_, waits,
                    [target = std::move(target), bytes, pattern = std::move(pattern)] {
                      std::byte* to = target.buffer->data() + target.offset;
                      uint64_t filled = std::min<uint64_t>(bytes, pattern.size());
                      std::memcpy(to, pattern.data(), filled);
                      // Doubles what is there: the pattern goes on without a seam, in few large
                      // copies.
                      while (filled < bytes) {
                        const uint64_t more = std::min(filled, bytes - filled);
                        std::memcpy(to + filled, to, more);
                        filled += more;
                      }
                    });
  }
  // Experimental (stria_peers_table.copy): one of the buffers is another device's. Called only
  // where Device::reaches says so.
  virtual Ref<Event> copy_between(Argument source, Argument target, uint64_t bytes, Waits waits) {
    return copy(std::move(source), std::move(target), bytes, waits);
  }
  virtual void flush() {}
  // Until all is over that was counted in tracker() before the call; false after `timeout_ns`.
  virtual bool drain(uint64_t timeout_ns) { return tracker_->wait_for_earlier(timeout_ns); }

  const Host& host() const { return host_; }
  const Ref<Tracker>& tracker() const { return tracker_; }

 private:
  const Host& host_;
  Ref<Tracker> tracker_;
};

}  // namespace stria::sdk
