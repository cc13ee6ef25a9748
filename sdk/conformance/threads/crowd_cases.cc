// SPDX-License-Identifier: Apache-2.0
// Many threads with different work on what they share.
#include <unistd.h>

#include "threads/at_once.h"
#include "threads/shared_handles.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kAny =
    "@threads any may be called from any thread at any time, also at once on one handle";
constexpr std::string_view kOnce =
    "Calls callback(state, error) once: at once if done, else from any thread when done.";
constexpr std::string_view kStream =
    "An executor is one stream of work; work on different executors, and unrelated work on one, "
    "may "
    "overlap: events alone order it.";
constexpr int kThreads = SharedHandles::kThreads;

Case& add(CaseMaker& maker, const std::string& name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('T', name, Level::robust, sentence, std::move(run));
  c.limit = std::chrono::seconds(60);
  return c;
}

bool reaches(const std::atomic<int>& count, int expected) {
  for (int i = 0; i < patience_ms() && count < expected; ++i) ::usleep(1000);
  // One too many may come a moment later.
  ::usleep(2000);
  return count == expected;
}

// ---- callbacks

struct Counter {
  std::atomic<int> calls{0}, errors{0};
  static void callback(void* state, const stria_error* error) {
    auto* self = static_cast<Counter*>(state);
    if (error) ++self->errors;
    ++self->calls;
  }
};

// Threads ask for callbacks while one of them ends the event: each comes once.
Finding asked_while_it_ends(Subject& subject, bool of_work, bool fails) {
  const DeviceWork work(subject);
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  constexpr int kEvents = 20, kEach = 50;
  for (int round = 0; round < kEvents; ++round) {
    STRIA_ASSIGN(const Event open, work.host_event());
    stria_event* const waits[] = {open.get()};
    STRIA_ASSIGN(const Event behind, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
    // If one comes too late it must still find its state.
    auto* counters = new Counter[kThreads];
    STRIA_RETURN_IF_ERROR(at_once(kThreads, [&](int thread) -> Status {
      if (thread == 0)
        return work.signal(open, fails ? Status(StatusCode::data_loss, "as asked") : Status());
      for (int i = 0; i < kEach; ++i)
        STRIA_SLOT(subject, event, on_done, of_work ? behind.get() : open.get(), Counter::callback,
                   &counters[thread]);
      return Status();
    }));
    STRIA_RETURN_IF_ERROR(work.wait_for_end(behind));
    for (int t = 1; t < kThreads; ++t) {
      if (!reaches(counters[t].calls, kEach))
        return broken("of {} callbacks that a thread asked for {} came", kEach,
                      counters[t].calls.load());
      if (counters[t].errors != (fails ? kEach : 0))
        return broken("{} of {} callbacks got an error; the event {}", counters[t].errors.load(),
                      kEach, fails ? "failed" : "ended well");
    }
    delete[] counters;
  }
  return {};
}

// ---- chains

// A chain of copies of this thread's own, on executors that all share; its end holds its beginning.
Status own_chain(const DeviceWork& work, const std::vector<Executor>& executors, int thread,
                 int links) {
  constexpr uint64_t kBytes = 512;
  const Bytes contents = pattern(kBytes, static_cast<uint32_t>(thread + 71));
  std::vector<Buffer> buffers;
  STRIA_ASSIGN(Buffer first, work.buffer(contents));
  buffers.push_back(std::move(first));
  std::vector<Event> events;
  STRIA_ASSIGN(Event open, work.host_event());
  events.push_back(std::move(open));
  for (int i = 1; i <= links; ++i) {
    STRIA_ASSIGN(Buffer next, work.allocate(kBytes));
    stria_event* const waits[] = {events.back().get()};
    STRIA_ASSIGN(Event copied,
                 work.copy(executors[static_cast<size_t>(thread + i) % executors.size()],
                           buffers.back(), 0, next, 0, kBytes, waits));
    buffers.push_back(std::move(next));
    events.push_back(std::move(copied));
  }
  STRIA_RETURN_IF_ERROR(work.signal(events.front()));
  STRIA_RETURN_IF_ERROR(work.wait(events.back()));
  return work.holds(buffers.back(), contents, "the end of a chain of this thread's");
}

Finding chains(Subject& subject, size_t executor_count) {
  const DeviceWork work(subject);
  std::vector<Executor> executors;
  for (size_t i = 0; i < executor_count; ++i) {
    STRIA_ASSIGN(Executor executor, work.executor());
    executors.push_back(std::move(executor));
  }
  return at_once(kThreads, [&](int thread) { return own_chain(work, executors, thread, 30); });
}

}  // namespace

void add_crowd_cases(CaseMaker& maker) {
  for (const bool of_work : {false, true})
    for (const bool fails : {false, true})
      add(maker,
          fmt::format("crowd.on_done_of_{}_that_{}", of_work ? "work" : "a_host_event",
                      fails ? "fails" : "ends"),
          kOnce, [of_work, fails](Subject& subject) {
            return asked_while_it_ends(subject, of_work, fails);
          });
  for (const size_t executors : {1, 2, 8})
    add(maker, fmt::format("crowd.chains_on_{}_executors", executors), kStream,
        [executors](Subject& subject) { return chains(subject, executors); });
  add(maker, "crowd.mixed_work", kAny, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    return at_once(kThreads, [&](int thread) -> Status {
      for (uint32_t round = 0; round < 10; ++round)
        STRIA_RETURN_IF_ERROR(work_round(work, static_cast<uint32_t>(thread) * 100 + round));
      return Status();
    });
  });
  add(maker, "crowd.programs_and_copies", kAny, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
    return at_once(kThreads, [&](int thread) -> Status {
      for (uint32_t round = 0; round < 10; ++round) {
        const uint32_t seed = static_cast<uint32_t>(thread) * 100 + round;
        if (thread % 2 == 0) {
          STRIA_RETURN_IF_ERROR(work_round(work, seed));
          continue;
        }
        STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, seed));
        STRIA_ASSIGN(const Event done, start(work, loaded, tensors));
        STRIA_RETURN_IF_ERROR(work.wait(done));
        STRIA_RETURN_IF_ERROR(tensors.check(work, program, seed));
      }
      return Status();
    });
  });
  // One thread makes what the next one waits for.
  add(maker, "crowd.one_submits_another_waits", kAny, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    constexpr int kItems = 100;
    struct Item {
      Buffer target;
      Event done;
      std::atomic<bool> ready{false};
    };
    std::vector<Item> items(kItems);
    STRIA_ASSIGN(const Buffer source, work.buffer(pattern(256, 81)));
    return at_once(2, [&](int thread) -> Status {
      for (Item& item : items) {
        if (thread == 0) {
          auto target = work.allocate(256);
          auto done = target.ok() ? work.copy(executor, source, 0, *target, 0, 256)
                                  : Result<Event>(target.status());
          if (done.ok()) {
            item.target = std::move(*target);
            item.done = std::move(*done);
          }
          item.ready = true;
          STRIA_RETURN_IF_ERROR(done.status());
        } else {
          while (!item.ready) ::usleep(20);
          if (!item.done) return Status();  // the other thread says why
          STRIA_RETURN_IF_ERROR(work.wait(item.done));
          STRIA_RETURN_IF_ERROR(work.holds(item.target, pattern(256, 81), "after a copy"));
          item.done.reset();
          item.target.reset();
        }
      }
      return Status();
    });
  });
  add(maker, "crowd.waiting_for_one_event", kAny, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
    for (int round = 0; round < 20; ++round) {
      STRIA_ASSIGN(const Event open, work.host_event());
      stria_event* const waits[] = {open.get()};
      STRIA_ASSIGN(const Event behind, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
      STRIA_RETURN_IF_ERROR(at_once(kThreads, [&](int thread) -> Status {
        if (thread == 0) return work.signal(open);
        // Half of them without a limit.
        if (thread % 2 == 0) return work.wait(behind);
        STRIA_SLOT(subject, event, wait, behind.get(), UINT64_MAX);
        return work.wait(behind);
      }));
    }
    return {};
  });
  add(maker, "crowd.threads_come_and_go", kAny, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    // What a plugin keeps for each thread must not grow, nor break when threads end.
    for (uint32_t round = 0; round < 50; ++round)
      STRIA_RETURN_IF_ERROR(at_once(2, [&](int thread) {
        return work_round(work, round * 10 + static_cast<uint32_t>(thread));
      }));
    return {};
  });
}

}  // namespace stria::conformance
