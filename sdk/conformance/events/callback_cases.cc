// SPDX-License-Identifier: Apache-2.0
#include "events/callback_cases.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "events/seen_callback.h"
#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

void add_kind_cases(CaseMaker& maker) {
  const Failure failure = failure_number(80);
  for (const Kind kind : kKinds) {
    const bool fails = kind != Kind::end;
    const auto add = [&](std::string_view name,
                         std::function<Status(const Bench&, OpenEvent&)> run) {
      add_bench_case(maker, 'Q', fmt::format("callback.{}.{}", name_of(kind), name), Level::right,
                     says::kOnDone, [kind, run = std::move(run)](const Bench& bench) -> Status {
                       STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
                       STRIA_RETURN_IF_ERROR(run(bench, open));
                       return open.close();
                     });
    };
    add("of_an_open_event", [](const Bench& bench, OpenEvent& open) -> Status {
      SeenCallback& seen = SeenCallback::make();
      STRIA_RETURN_IF_ERROR(seen.ask(bench, open.event()));
      STRIA_RETURN_IF_ERROR(bench.stays_open(open.event(), "what it waits for is open"));
      if (seen.calls() != 0) return broken("the callback of an open event was called");
      STRIA_RETURN_IF_ERROR(open.succeed());
      return seen.came_once({});
    });
    add("of_a_done_event", [](const Bench& bench, OpenEvent& open) -> Status {
      STRIA_RETURN_IF_ERROR(open.succeed());
      SeenCallback& seen = SeenCallback::make();
      STRIA_RETURN_IF_ERROR(seen.ask(bench, open.event()));
      STRIA_RETURN_IF_ERROR(seen.came_at_once());
      return seen.came_once({});
    });
    if (fails) {
      add("of_one_that_fails", [failure](const Bench& bench, OpenEvent& open) -> Status {
        SeenCallback& seen = SeenCallback::make();
        STRIA_RETURN_IF_ERROR(seen.ask(bench, open.event()));
        STRIA_RETURN_IF_ERROR(open.fail(failure));
        return seen.came_once(failure);
      });
      add("of_one_that_failed", [failure](const Bench& bench, OpenEvent& open) -> Status {
        STRIA_RETURN_IF_ERROR(open.fail(failure));
        SeenCallback& seen = SeenCallback::make();
        STRIA_RETURN_IF_ERROR(seen.ask(bench, open.event()));
        STRIA_RETURN_IF_ERROR(seen.came_at_once());
        return seen.came_once(failure);
      });
    }
    add("before_and_after", [failure, fails](const Bench& bench, OpenEvent& open) -> Status {
      std::vector<SeenCallback*> all;
      const auto ask = [&](int count) -> Status {
        for (int i = 0; i < count; ++i) {
          all.push_back(&SeenCallback::make());
          STRIA_RETURN_IF_ERROR(all.back()->ask(bench, open.event()));
        }
        return Status();
      };
      STRIA_RETURN_IF_ERROR(ask(5));
      STRIA_RETURN_IF_ERROR(fails ? open.fail(failure) : open.succeed());
      STRIA_RETURN_IF_ERROR(ask(5));
      for (const SeenCallback* seen : all)
        STRIA_RETURN_IF_ERROR(seen->came_once(fails ? failure : Failure()));
      return Status();
    });
  }
  add_bench_case(maker, 'Q', "callback.unmap.of_each", Level::right, says::kOnDone,
                 [](const Bench& bench) -> Status {
                   STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(100)));
                   for (const MapMode mode : {MapMode::current, MapMode::discard}) {
                     STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 0, 100));
                     mapped.write(Bytes(100));
                     STRIA_ASSIGN(const Event ended, mapped.unmap());
                     SeenCallback& early = SeenCallback::make();
                     STRIA_RETURN_IF_ERROR(early.ask(bench, ended));
                     STRIA_RETURN_IF_ERROR(bench.finish(ended));
                     SeenCallback& late = SeenCallback::make();
                     STRIA_RETURN_IF_ERROR(late.ask(bench, ended));
                     STRIA_RETURN_IF_ERROR(late.came_at_once());
                     STRIA_RETURN_IF_ERROR(early.came_once({}));
                   }
                   return Status();
                 });
}

void add_many_cases(CaseMaker& maker) {
  for (const int count : {2, 100, 2000})
    add_bench_case(maker, 'Q', fmt::format("callback.many_{}", count),
                   count > 1000 ? Level::robust : Level::right, says::kOnDone,
                   [count](const Bench& bench) -> Status {
                     STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, Kind::fill));
                     std::vector<SeenCallback*> all;
                     for (int i = 0; i < count; ++i) {
                       all.push_back(&SeenCallback::make());
                       STRIA_RETURN_IF_ERROR(all.back()->ask(bench, open.event()));
                     }
                     STRIA_RETURN_IF_ERROR(open.succeed());
                     // The last ones, and a few in between: each look takes a moment.
                     for (int i = count - 1; i >= 0; i -= 1 + count / 20)
                       STRIA_RETURN_IF_ERROR(all[static_cast<size_t>(i)]->came_once({}));
                     for (const SeenCallback* seen : all)
                       if (seen->calls() != 1)
                         return broken("one of {} callbacks was called {} times", count,
                                       seen->calls());
                     return open.close();
                   });
  // Of every event of a chain.
  add_bench_case(
      maker, 'Q', "callback.along_a_chain", Level::right, says::kOnDone,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
        std::vector<Event> events;
        std::vector<SeenCallback*> all;
        for (unsigned i = 0; i < 40; ++i) {
          STRIA_ASSIGN(Event filled,
                       bench.fill(buffer, 64, i, i == 0 ? list_of(gate) : list_of(events.back())));
          all.push_back(&SeenCallback::make());
          STRIA_RETURN_IF_ERROR(all.back()->ask(bench, filled));
          events.push_back(std::move(filled));
        }
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(81)));
        STRIA_RETURN_IF_ERROR(
            fails_with(bench, events.back(), failure_number(81), "the last of the chain"));
        for (const SeenCallback* seen : all)
          STRIA_RETURN_IF_ERROR(seen->came_once(failure_number(81)));
        return Status();
      });
  add_bench_case(maker, 'Q', "callback.without_state", Level::right, says::kOnDone,
                 [](const Bench& bench) -> Status {
                   static std::atomic<int> calls, with_state;
                   calls = with_state = 0;
                   STRIA_ASSIGN(const Event event, bench.subject().host_event());
                   const auto callback = [](void* state, const stria_error*) {
                     if (state) ++with_state;
                     ++calls;
                   };
                   STRIA_SLOT(bench.subject(), event, on_done, event.get(), callback, nullptr);
                   STRIA_RETURN_IF_ERROR(bench.subject().signal(event));
                   STRIA_SLOT(bench.subject(), event, on_done, event.get(), callback, nullptr);
                   // The second one comes at once; the first may take a while.
                   SeenCallback& later = SeenCallback::make();
                   STRIA_RETURN_IF_ERROR(later.ask(bench, event));
                   STRIA_RETURN_IF_ERROR(later.came_once({}));
                   if (with_state != 0) return broken("a callback with the state NULL got another");
                   if (calls < 1 || calls > 2)
                     return broken("two callbacks were called {} times", calls.load());
                   return Status();
                 });
}

// ---- handles that go

void add_release_cases(CaseMaker& maker) {
  for (const Op op : {Op::fill, Op::copy})
    for (const bool fails : {false, true})
      add_bench_case(
          maker, 'Q',
          fmt::format("callback.of_a_released_{}{}", name_of(op), fails ? "_that_fails" : ""),
          Level::right, says::kHandleInFlight, [op, fails](const Bench& bench) -> Status {
            STRIA_ASSIGN(const Event gate, bench.subject().host_event());
            STRIA_ASSIGN(const Buffer source, bench.buffer(Bytes(64)));
            STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(64)));
            SeenCallback& seen = SeenCallback::make();
            {
              STRIA_ASSIGN(const Event done,
                           op == Op::fill ? bench.fill(target, 64, 1, list_of(gate))
                                          : bench.copy(source, 0, target, 0, 64, list_of(gate)));
              STRIA_RETURN_IF_ERROR(seen.ask(bench, done));
              STRIA_RETURN_IF_ERROR(bench.flush());
            }
            if (fails) {
              STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(82)));
              return seen.came_once(failure_number(82));
            }
            STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
            return seen.came_once({});
          });
  add_bench_case(maker, 'Q', "callback.of_a_host_event_released_unsignalled", Level::right,
                 says::kUnsignalled, [](const Bench& bench) -> Status {
                   SeenCallback& seen = SeenCallback::make();
                   {
                     STRIA_ASSIGN(const Event event, bench.subject().host_event());
                     STRIA_RETURN_IF_ERROR(seen.ask(bench, event));
                   }
                   return seen.came_once_with_code(STRIA_CANCELLED);
                 });
  add_bench_case(maker, 'Q', "callback.behind_a_host_event_released_unsignalled", Level::right,
                 says::kUnsignalled, [](const Bench& bench) -> Status {
                   SeenCallback& seen = SeenCallback::make();
                   STRIA_ASSIGN(Event event, bench.subject().host_event());
                   STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(event)));
                   STRIA_RETURN_IF_ERROR(seen.ask(bench, trial.done()));
                   event.reset();
                   STRIA_RETURN_IF_ERROR(seen.came_once_with_code(STRIA_CANCELLED));
                   return trial.was_not_done();
                 });
}

// ---- what a callback does

// Adds a case whose callback, of an event of each kind, calls slots with the event as argument.
void add_inside_cases(CaseMaker& maker) {
  using Inside = std::function<Status(const Bench&, const Event& event, const Event& other,
                                      const Buffer& buffer)>;
  const auto add = [&](std::string_view name, const Inside& inside,
                       const std::function<Status(const Bench&, const Event& other)>& after = {}) {
    for (const Kind kind : {Kind::host, Kind::fill, Kind::map_current})
      add_bench_case(
          maker, 'Q', fmt::format("callback.inside.{}_{}", name, name_of(kind)), Level::right,
          says::kCallbackCalls, [kind, inside, after](const Bench& bench) -> Status {
            // device.allocate may block, and is none of a callback's slots.
            STRIA_ASSIGN(const Buffer buffer, bench.subject().allocate(64));
            STRIA_ASSIGN(const Event other, bench.subject().host_event());
            STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
            SeenCallback& seen =
                SeenCallback::make([&] { return inside(bench, open.event(), other, buffer); });
            STRIA_RETURN_IF_ERROR(seen.ask(bench, open.event()));
            STRIA_RETURN_IF_ERROR(open.succeed());
            STRIA_RETURN_IF_ERROR(seen.came_once({}));
            if (after) STRIA_RETURN_IF_ERROR(after(bench, other));
            return open.close();
          });
  };
  add("asks_the_event",
      [](const Bench& bench, const Event& event, const Event&, const Buffer&) -> Status {
        STRIA_ASSIGN(const bool done, bench.subject().is_done(event));
        if (!done) return broken("event.query says 0 in the event's callback");
        const Failure got = outcome_of(bench, event);
        if (got.code != STRIA_OK) return broken("event.status gives {}", got.to_string());
        uint64_t nanoseconds = 0;
        STRIA_SLOT(bench.subject(), event, duration_ns, event.get(), &nanoseconds);
        return Status();
      });
  add("asks_for_another_call",
      [](const Bench& bench, const Event& event, const Event&, const Buffer&) -> Status {
        SeenCallback& inner = SeenCallback::make();
        STRIA_RETURN_IF_ERROR(inner.ask(bench, event));
        return inner.came_at_once();
      });
  add(
      "signals",
      [](const Bench& bench, const Event&, const Event& other, const Buffer&) -> Status {
        return bench.subject().signal(other);
      },
      [](const Bench& bench, const Event& other) -> Status { return bench.finish(other); });
  add(
      "submits_work",
      [](const Bench& bench, const Event& event, const Event& other,
         const Buffer& buffer) -> Status {
        STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1, list_of(event)));
        STRIA_ASSIGN(const Event two, bench.copy(buffer, 0, buffer, 32, 32, list_of(one)));
        STRIA_RETURN_IF_ERROR(bench.flush());
        return bench.subject().signal(other);
      },
      [](const Bench& bench, const Event& other) -> Status {
        STRIA_RETURN_IF_ERROR(bench.finish(other));
        STRIA_SLOT(bench.subject(), executor, drain, bench.executor().get(), 5'000'000'000);
        return Status();
      });
  add("makes_and_releases",
      [](const Bench& bench, const Event&, const Event&, const Buffer&) -> Status {
        STRIA_ASSIGN(const Event made, bench.subject().host_event());
        STRIA_ASSIGN(const Event dropped, bench.subject().host_event());
        return bench.subject().signal(made);
      });
  // The event's last handle goes while its callback runs.
  for (const Op op : {Op::fill, Op::copy})
    add_bench_case(maker, 'Q', fmt::format("callback.inside.releases_its_{}", name_of(op)),
                   Level::right, says::kCallbackCalls, [op](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                     STRIA_ASSIGN(const Buffer source, bench.buffer(Bytes(64)));
                     STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(64)));
                     STRIA_ASSIGN(Event made,
                                  op == Op::fill
                                      ? bench.fill(target, 64, 1, list_of(gate))
                                      : bench.copy(source, 0, target, 0, 64, list_of(gate)));
                     auto event = std::make_shared<Event>(std::move(made));
                     SeenCallback& seen = SeenCallback::make([event]() -> Status {
                       event->reset();
                       return Status();
                     });
                     STRIA_RETURN_IF_ERROR(seen.ask(bench, *event));
                     STRIA_RETURN_IF_ERROR(bench.flush());
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
                     return seen.came_once({});
                   });
  add_bench_case(
      maker, 'Q', "callback.inside.maps_and_unmaps", Level::right, says::kCallbackCalls,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Buffer buffer, bench.subject().allocate(64));
        STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, Kind::fill));
        Event mapped, unmapped;
        void* memory = nullptr;
        SeenCallback& at_end = SeenCallback::make();
        // Its memory is written and given back when it is ready, in a callback too.
        SeenCallback& when_ready = SeenCallback::make([&]() -> Status {
          std::fill_n(static_cast<std::byte*>(memory), 64, std::byte{5});
          stria_event* done = nullptr;
          STRIA_SLOT(bench.subject(), buffer, unmap, buffer.get(), memory, &done);
          unmapped = Event(done, bench.subject().tables().event.release);
          return at_end.ask(bench, unmapped);
        });
        SeenCallback& first = SeenCallback::make([&]() -> Status {
          stria_event* done = nullptr;
          stria_event* const waits[] = {open.event().get()};
          STRIA_SLOT(bench.subject(), buffer, map_discard, buffer.get(), 0, 64, waits, 1, &memory,
                     &done);
          mapped = Event(done, bench.subject().tables().event.release);
          return when_ready.ask(bench, mapped);
        });
        STRIA_RETURN_IF_ERROR(first.ask(bench, open.event()));
        STRIA_RETURN_IF_ERROR(open.succeed());
        for (const SeenCallback* seen : {&first, &when_ready, &at_end})
          STRIA_RETURN_IF_ERROR(seen->came_once({}));
        STRIA_RETURN_IF_ERROR(bench.holds(buffer, bytes_of(64, 5), "what a callback wrote"));
        return open.close();
      });
  // Each ends the next one.
  add_bench_case(maker, 'Q', "callback.inside.hundred_in_a_row", Level::right, says::kCallbackCalls,
                 [](const Bench& bench) -> Status {
                   std::vector<Event> events;
                   for (int i = 0; i < 101; ++i) {
                     STRIA_ASSIGN(Event event, bench.subject().host_event());
                     events.push_back(std::move(event));
                   }
                   std::vector<SeenCallback*> all;
                   for (size_t i = 0; i + 1 < events.size(); ++i) {
                     all.push_back(&SeenCallback::make(
                         [&, i] { return bench.subject().signal(events[i + 1]); }));
                     STRIA_RETURN_IF_ERROR(all.back()->ask(bench, events[i]));
                   }
                   STRIA_RETURN_IF_ERROR(bench.subject().signal(events.front()));
                   STRIA_RETURN_IF_ERROR(bench.finish(events.back()));
                   // What the callbacks use lives until all have come.
                   for (const SeenCallback* seen : all) STRIA_RETURN_IF_ERROR(seen->came_once({}));
                   return Status();
                 });
}

}  // namespace

void add_event_callback_cases(CaseMaker& maker) {
  add_kind_cases(maker);
  add_many_cases(maker);
  add_release_cases(maker);
  add_inside_cases(maker);
}

}  // namespace stria::conformance
