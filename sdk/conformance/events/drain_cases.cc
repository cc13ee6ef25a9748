// SPDX-License-Identifier: Apache-2.0
#include "events/drain_cases.h"

#include <chrono>
#include <thread>

#include "events/caller.h"
#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kGenerousNs = 5'000'000'000;

Status drain(const Bench& bench, uint64_t timeout_ns, size_t number = 0) {
  STRIA_RETURN_IF_ERROR(bench.flush());
  STRIA_SLOT(bench.subject(), executor, drain, bench.executor(number).get(), timeout_ns);
  return Status();
}

Status gives_up(const Bench& bench, uint64_t timeout_ns, size_t number = 0) {
  const Status status = drain(bench, timeout_ns, number);
  if (status.code() == StatusCode::deadline_exceeded) return Status();
  return broken(
      "executor.drain with a timeout of {} ns, while work waits for an open event, gives "
      "'{}', not {}",
      timeout_ns, status.to_string(), name_of(StatusCode::deadline_exceeded));
}

// Adds a case with an event that work waits for, and a buffer of 64 bytes.
Case& add(CaseMaker& maker, std::string_view name, Level level, std::string_view sentence,
          std::function<Status(const Bench&, Event& gate, const Buffer&)> run,
          size_t executors = 1) {
  return add_bench_case(
      maker, 'Q', name, level, sentence,
      [run = std::move(run)](const Bench& bench) -> Status {
        STRIA_ASSIGN(Event gate, bench.subject().host_event());
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
        return run(bench, gate, buffer);
      },
      executors);
}

void add_idle_cases(CaseMaker& maker) {
  struct Timeout {
    std::string_view name;
    uint64_t ns;
  };
  for (const Timeout& timeout : {Timeout{"0", 0},
                                 {"short", 1'000'000},
                                 {"none", UINT64_MAX},
                                 {"max_less_1", UINT64_MAX - 1},
                                 {"2_to_63", uint64_t{1} << 63}}) {
    add(maker, fmt::format("drain.idle_{}", timeout.name), Level::right, says::kDrain,
        [ns = timeout.ns](const Bench& bench, Event&, const Buffer&) -> Status {
          for (int i = 0; i < 3; ++i) STRIA_RETURN_IF_ERROR(drain(bench, ns));
          return Status();
        });
    if (timeout.ns < kGenerousNs) {
      add(maker, fmt::format("drain.gives_up_{}", timeout.name), Level::right, says::kDrain,
          [ns = timeout.ns](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
            STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
            for (int i = 0; i < 3; ++i) STRIA_RETURN_IF_ERROR(gives_up(bench, ns));
            STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "a drain gave up"));
            STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
            STRIA_RETURN_IF_ERROR(bench.finish(filled));
            STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs));
            return bench.holds(buffer, bytes_of(64, 1), "the buffer after the drain");
          });
    } else {
      // On a thread: the drain begins before the work can.
      add(maker, fmt::format("drain.waits_{}", timeout.name), Level::right, says::kDrain,
          [ns = timeout.ns](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
            STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
            STRIA_RETURN_IF_ERROR(bench.flush());
            Caller draining(
                bench, Slot::executor_drain,
                [&] { return bench.subject().tables().executor.drain(bench.executor().get(), ns); },
                [&] { (void)bench.subject().signal(gate); });
            draining.let_it_begin();
            if (draining.returned())
              return broken(
                  "executor.drain with a timeout of {} ns gives '{}' while work waits for "
                  "an open event",
                  ns, draining.result().to_string());
            STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
            STRIA_RETURN_IF_ERROR(draining.result());
            STRIA_ASSIGN(const bool done, bench.subject().is_done(filled));
            if (!done) return broken("executor.drain returned before the work was done");
            return bench.holds(buffer, bytes_of(64, 1), "the buffer after the drain");
          });
    }
  }
  add(maker, "drain.gives_up_in_time", Level::right, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
        const auto begin = std::chrono::steady_clock::now();
        STRIA_RETURN_IF_ERROR(gives_up(bench, 40'000'000));
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::steady_clock::now() - begin)
                              .count();
        if (took < 35) return broken("executor.drain for 40 ms gave up after {} ms", took);
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        return bench.finish(filled);
      });
}

void add_work_cases(CaseMaker& maker) {
  for (const Op op : {Op::fill, Op::copy})
    add_bench_case(maker, 'Q', fmt::format("drain.after_{}", name_of(op)), Level::right,
                   says::kDrain, [op](const Bench& bench) -> Status {
                     for (int i = 0; i < 10; ++i) {
                       std::vector<Trial> trials;
                       for (int k = 0; k < 5; ++k) {
                         STRIA_ASSIGN(Trial trial, Trial::start(bench, op));
                         trials.push_back(std::move(trial));
                       }
                       STRIA_RETURN_IF_ERROR(drain(bench, UINT64_MAX));
                       for (Trial& trial : trials) {
                         STRIA_ASSIGN(const bool done, bench.subject().is_done(trial.done()));
                         if (!done) return broken("executor.drain left a {} open", name_of(op));
                         STRIA_RETURN_IF_ERROR(trial.was_done());
                       }
                     }
                     return Status();
                   });
  add(maker, "drain.after_failures", Level::right, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1, list_of(gate)));
        STRIA_ASSIGN(const Event two, bench.fill(buffer, 64, 2, list_of(one)));
        STRIA_RETURN_IF_ERROR(gives_up(bench, 0));
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(1)));
        STRIA_RETURN_IF_ERROR(
            drain(bench, kGenerousNs).with_context("of work that failed, which is done"));
        STRIA_RETURN_IF_ERROR(fails_with(bench, two, failure_number(1), "drained work"));
        return bench.holds(buffer, Bytes(64), "the buffer of failed work");
      });
  add(maker, "drain.after_cancelled_work", Level::right, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
        gate.reset();
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs));
        return fails_with_code(bench, filled, STRIA_CANCELLED, "drained work");
      });
  add(maker, "drain.after_a_long_chain", Level::right, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        Event last;
        for (unsigned i = 0; i < 200; ++i) {
          STRIA_ASSIGN(last, bench.fill(buffer, 64, i, last ? list_of(last) : list_of(gate)));
        }
        STRIA_RETURN_IF_ERROR(gives_up(bench, 1'000'000));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs));
        STRIA_ASSIGN(const bool done, bench.subject().is_done(last));
        if (!done) return broken("executor.drain left the last of a chain open");
        return bench.holds(buffer, bytes_of(64, 199), "the buffer after a chain");
      });
  // Whether anybody holds the events does not matter.
  add(maker, "drain.after_released_events", Level::right, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        {
          STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1, list_of(gate)));
          STRIA_ASSIGN(const Event two, bench.fill(buffer, 64, 2, list_of(one)));
        }
        STRIA_RETURN_IF_ERROR(gives_up(bench, 1'000'000));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs));
        return bench.holds(buffer, bytes_of(64, 2), "the buffer after a drain");
      });
  // Of that executor alone.
  add(
      maker, "drain.beside_a_blocked_executor", Level::robust, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event blocked, bench.fill(buffer, 64, 1, list_of(gate), 1));
        STRIA_ASSIGN(Trial free, Trial::start(bench, Op::fill, {}, 0));
        STRIA_RETURN_IF_ERROR(
            drain(bench, kGenerousNs, 0).with_context("while work of another executor is blocked"));
        STRIA_RETURN_IF_ERROR(free.was_done());
        STRIA_RETURN_IF_ERROR(gives_up(bench, 1'000'000, 1));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs, 1));
        return bench.holds(buffer, bytes_of(64, 1), "the buffer after both drains");
      },
      2);
  // A host event is nobody's work, nor is a mapping an executor's.
  add(maker, "drain.beside_open_host_events", Level::right, says::kDrain,
      [](const Bench& bench, Event&, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill));
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs));
        STRIA_RETURN_IF_ERROR(trial.was_done());
        return bench.holds(buffer, Bytes(64), "a buffer that nobody wrote");
      });
  add(
      maker, "drain.waits_for_other_executors_through_events", Level::robust, says::kDrain,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1, list_of(gate), 1));
        STRIA_ASSIGN(const Event two, bench.fill(buffer, 64, 2, list_of(one), 0));
        STRIA_RETURN_IF_ERROR(gives_up(bench, 1'000'000, 0));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        STRIA_RETURN_IF_ERROR(drain(bench, kGenerousNs, 0));
        return bench.holds(buffer, bytes_of(64, 2), "the buffer after the drain");
      },
      2);
}

// Work that was submitted after the call is not waited for. Whether the call was inside when that
// work came cannot be seen for certain: only a plugin that waits for it each time is wrong.
void add_later_case(CaseMaker& maker) {
  add(maker, "drain.not_for_later_work", Level::robust, says::kDrain,
      [](const Bench& bench, Event&, const Buffer& buffer) -> Status {
        for (int attempt = 0; attempt < 4; ++attempt) {
          STRIA_ASSIGN(const Event before, bench.subject().host_event());
          STRIA_ASSIGN(const Event after, bench.subject().host_event());
          STRIA_ASSIGN(const Event early, bench.fill(buffer, 64, 1, list_of(before)));
          STRIA_RETURN_IF_ERROR(bench.flush());
          Caller draining(
              bench, Slot::executor_drain,
              [&] {
                return bench.subject().tables().executor.drain(bench.executor().get(),
                                                               1'500'000'000);
              },
              [&] { (void)bench.subject().signal(before); });
          draining.let_it_begin();
          STRIA_ASSIGN(const Event late, bench.fill(buffer, 64, 2, list_of(after)));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(before));
          STRIA_RETURN_IF_ERROR(bench.finish(early));
          const Status drained = draining.result();
          STRIA_RETURN_IF_ERROR(bench.subject().signal(after));
          STRIA_RETURN_IF_ERROR(bench.finish(late));
          if (drained.ok()) return Status();
          if (drained.code() != StatusCode::deadline_exceeded) return drained;
        }
        return broken("executor.drain waits for work that is submitted after the call");
      })
      .limit = std::chrono::seconds(20);
}

void add_flush_cases(CaseMaker& maker) {
  add(maker, "flush.idle", Level::right, says::kFlush,
      [](const Bench& bench, Event&, const Buffer&) -> Status {
        for (int i = 0; i < 100; ++i) STRIA_RETURN_IF_ERROR(bench.flush());
        return Status();
      });
  // It returns while the work cannot begin.
  add(maker, "flush.of_blocked_work", Level::right, says::kFlush,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
        for (int i = 0; i < 10; ++i) STRIA_RETURN_IF_ERROR(bench.flush());
        STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "the event that it waits for is open"));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        // No second flush: it has been handed over.
        STRIA_RETURN_IF_ERROR(bench.subject().wait(filled));
        return bench.holds(buffer, bytes_of(64, 1), "the buffer after the fill");
      });
  // Nobody asks, and nobody waits in the plugin: the host looks now and then.
  add(maker, "flush.none_and_no_wait", Level::right, says::kNoFlush,
      [](const Bench& bench, Event&, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1));
        const int limit_ms = patience_ms(2000);
        for (int waited_ms = 0; waited_ms < limit_ms; waited_ms += 5) {
          STRIA_ASSIGN(const bool done, bench.subject().is_done(filled));
          if (done) return bench.holds(buffer, bytes_of(64, 1), "the buffer after the fill");
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        (void)bench.flush();  // so that the cases behind this one find an idle device
        return broken("work is still open {} ms after it was submitted, without a flush", limit_ms);
      });
  add(maker, "flush.none", Level::right, says::kNoFlush,
      [](const Bench& bench, Event&, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1));
        STRIA_ASSIGN(const Event two, bench.fill(buffer, 64, 2, list_of(one)));
        STRIA_RETURN_IF_ERROR(bench.subject().wait(two));
        return bench.holds(buffer, bytes_of(64, 2), "the buffer after the fills");
      });
  add(maker, "flush.after_each", Level::right, says::kFlush,
      [](const Bench& bench, Event&, const Buffer& buffer) -> Status {
        Event last;
        for (unsigned i = 0; i < 50; ++i) {
          STRIA_ASSIGN(last, bench.fill(buffer, 64, i, last ? list_of(last) : EventList()));
          STRIA_RETURN_IF_ERROR(bench.flush());
        }
        STRIA_RETURN_IF_ERROR(bench.subject().wait(last));
        return bench.holds(buffer, bytes_of(64, 49), "the buffer after fifty fills");
      });
  add(maker, "flush.after_failures", Level::right, says::kFlush,
      [](const Bench& bench, Event& gate, const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, list_of(gate)));
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(2)));
        for (int i = 0; i < 10; ++i) STRIA_RETURN_IF_ERROR(bench.flush());
        return fails_with(bench, filled, failure_number(2), "a fill whose wait failed");
      });
}

}  // namespace

void add_event_drain_cases(CaseMaker& maker) {
  add_idle_cases(maker);
  add_work_cases(maker);
  add_later_case(maker);
  add_flush_cases(maker);
}

}  // namespace stria::conformance
