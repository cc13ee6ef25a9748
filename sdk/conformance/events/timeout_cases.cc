// SPDX-License-Identifier: Apache-2.0
#include "events/timeout_cases.h"

#include <chrono>
#include <memory>
#include <thread>

#include "events/caller.h"
#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<Caller> waiter(const Bench& bench, const Event& event, uint64_t timeout_ns,
                               std::function<void()> rescue) {
  return std::make_unique<Caller>(
      bench, Slot::event_wait,
      [&bench, handle = event.get(), timeout_ns] {
        return bench.subject().tables().event.wait(handle, timeout_ns);
      },
      std::move(rescue));
}

// A thread waits for an open event, which is then done, or fails.
Status try_wait(const Bench& bench, Kind kind, uint64_t timeout_ns, bool fails) {
  STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
  const auto end = [&] { return fails ? open.fail(failure_number(90)) : open.succeed(); };
  {
    const auto waiting = waiter(bench, open.event(), timeout_ns, [&] { (void)end(); });
    waiting->let_it_begin();
    if (waiting->returned()) {
      const Status status = waiting->result();
      return broken("event.wait with a timeout of {} ns gives '{}' while the event is open",
                    timeout_ns, status.to_string());
    }
    STRIA_RETURN_IF_ERROR(end());
    STRIA_RETURN_IF_ERROR(waiting->result());
  }
  return open.close();
}

void add_long_cases(CaseMaker& maker) {
  for (const Kind kind : kKinds)
    for (const bool fails : {false, true}) {
      if (fails && kind == Kind::end) continue;
      add_bench_case(maker, 'Q',
                     fmt::format("timeout.none_{}{}", name_of(kind), fails ? "_that_fails" : ""),
                     Level::right, says::kWait, [kind, fails](const Bench& bench) -> Status {
                       return try_wait(bench, kind, UINT64_MAX, fails);
                     });
    }
  struct Long {
    std::string_view name;
    uint64_t ns;
  };
  // Added to a clock's time most of these overflow.
  for (const Long& limit : {Long{"max_less_1", UINT64_MAX - 1},
                            {"max_less_a_second", UINT64_MAX - 1'000'000'000},
                            {"2_to_63", uint64_t{1} << 63},
                            {"2_to_63_less_1", (uint64_t{1} << 63) - 1},
                            {"2_to_62", uint64_t{1} << 62},
                            {"five_hundred_years", 15'768'000'000'000'000'000u},
                            {"hour", 3'600'000'000'000},
                            {"2_to_32_ms", (uint64_t{1} << 32) * 1'000'000}})
    for (const Kind kind : {Kind::host, Kind::fill})
      add_bench_case(maker, 'Q', fmt::format("timeout.{}_{}", limit.name, name_of(kind)),
                     Level::right, says::kWait,
                     [ns = limit.ns, kind](const Bench& bench) -> Status {
                       return try_wait(bench, kind, ns, false);
                     });
}

// The wait gives up, not before its time, and the event is as open as before.
void add_short_cases(CaseMaker& maker) {
  for (const uint64_t us : {1, 500, 5000, 40'000})
    for (const Kind kind : {Kind::host, Kind::fill, Kind::map_current})
      add_bench_case(
          maker, 'Q', fmt::format("timeout.{}_us_{}", us, name_of(kind)), Level::right, says::kWait,
          [us, kind](const Bench& bench) -> Status {
            STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
            const auto begin = Clock::now();
            const Status status = Subject::failure(
                Slot::event_wait,
                bench.subject().tables().event.wait(open.event().get(), us * 1000));
            const auto took =
                std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
            if (status.code() != StatusCode::deadline_exceeded)
              return broken("event.wait for {} us of an open event gives '{}', not {}", us,
                            status.to_string(), name_of(StatusCode::deadline_exceeded));
            // Another clock than ours may count; none is off by a tenth.
            if (static_cast<uint64_t>(took) + 1 < us - us / 10)
              return broken("event.wait for {} us of an open event gave up after {} us", us, took);
            STRIA_RETURN_IF_ERROR(
                bench.stays_open(open.event(), "what it waits for is open, after a wait gave up"));
            STRIA_RETURN_IF_ERROR(open.succeed());
            return open.close();
          });
}

// Nobody waits: who asks again and again sees the end.
void add_look_cases(CaseMaker& maker) {
  for (const bool by_query : {true, false})
    for (const Op op : kOps)
      add_bench_case(
          maker, 'Q',
          fmt::format("timeout.{}_alone_sees_the_end_of_{}", by_query ? "query" : "just_looking",
                      name_of(op)),
          Level::right, by_query ? says::kQuery : says::kWait,
          [op, by_query](const Bench& bench) -> Status {
            STRIA_ASSIGN(Trial trial, Trial::start(bench, op));
            STRIA_RETURN_IF_ERROR(bench.flush());
            const auto end = Clock::now() + std::chrono::seconds(5);
            while (true) {
              bool done = false;
              if (by_query) {
                STRIA_ASSIGN(done, bench.subject().is_done(trial.done()));
              } else {
                const Status looked = Subject::failure(
                    Slot::event_wait, bench.subject().tables().event.wait(trial.done().get(), 0));
                if (!looked.ok() && looked.code() != StatusCode::deadline_exceeded) return looked;
                done = looked.ok();
              }
              if (done) break;
              if (Clock::now() >= end)
                return broken("{} that waits for nothing is not done for 5 s, if nobody waits",
                              name_of(op));
              std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            return trial.was_done();
          });
}

void add_thread_cases(CaseMaker& maker) {
  for (const Kind kind : {Kind::host, Kind::copy, Kind::map_current})
    add_bench_case(
        maker, 'Q', fmt::format("timeout.eight_threads_wait_for_{}", name_of(kind)), Level::robust,
        says::kWait, [kind](const Bench& bench) -> Status {
          STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
          std::vector<std::unique_ptr<Caller>> waiting;
          for (int i = 0; i < 8; ++i)
            waiting.push_back(waiter(bench, open.event(), i % 2 == 0 ? UINT64_MAX : 60'000'000'000,
                                     [&] { (void)open.succeed(); }));
          waiting.back()->let_it_begin();
          STRIA_RETURN_IF_ERROR(open.succeed());
          for (const auto& one : waiting) STRIA_RETURN_IF_ERROR(one->result());
          return open.close();
        });
  // Waits for the end of a chain, with threads that wait for its middle.
  add_bench_case(
      maker, 'Q', "timeout.threads_wait_along_a_chain", Level::robust, says::kWait,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
        std::vector<Event> events;
        for (unsigned i = 0; i < 16; ++i) {
          STRIA_ASSIGN(Event filled,
                       bench.fill(buffer, 64, i, i == 0 ? list_of(gate) : list_of(events.back())));
          events.push_back(std::move(filled));
        }
        STRIA_RETURN_IF_ERROR(bench.flush());
        std::vector<std::unique_ptr<Caller>> waiting;
        for (size_t i = 1; i < events.size(); i += 4)
          waiting.push_back(
              waiter(bench, events[i], UINT64_MAX, [&] { (void)bench.subject().signal(gate); }));
        waiting.back()->let_it_begin();
        for (const auto& one : waiting)
          if (one->returned()) return broken("event.wait returns before its event's chain began");
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        for (const auto& one : waiting) STRIA_RETURN_IF_ERROR(one->result());
        STRIA_RETURN_IF_ERROR(bench.finish(events.back()));
        return bench.holds(buffer, bytes_of(64, 15), "the buffer after the chain");
      });
}

}  // namespace

void add_event_timeout_cases(CaseMaker& maker) {
  add_long_cases(maker);
  add_short_cases(maker);
  add_look_cases(maker);
  add_thread_cases(maker);
}

}  // namespace stria::conformance
