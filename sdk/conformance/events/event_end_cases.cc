// SPDX-License-Identifier: Apache-2.0
#include "events/event_end_cases.h"

#include "events/seen_callback.h"
#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

Status is_well(const Bench& bench, const Event& end, std::string_view what) {
  STRIA_RETURN_IF_ERROR(bench.finish(end).with_context(what));
  const Failure got = outcome_of(bench, end);
  return got.code == STRIA_OK ? Status() : broken("{} ends with {}", what, got.to_string());
}

void add(CaseMaker& maker, std::string_view name, std::function<Status(const Bench&)> run) {
  add_bench_case(maker, 'Q', fmt::format("end.{}", name), Level::right, says::kEnd, std::move(run));
}

// Of an event of each kind, asked for before and after it is done or has failed.
void add_kind_cases(CaseMaker& maker) {
  for (const Kind kind : kKinds)
    for (const bool fails : {false, true})
      for (const bool late : {false, true}) {
        if (kind == Kind::end && fails) continue;
        add(maker,
            fmt::format("of_{}{}{}", name_of(kind), fails ? "_that_fails" : "",
                        late ? "_asked_for_late" : ""),
            [kind, fails, late](const Bench& bench) -> Status {
              STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
              Event end;
              if (!late) {
                STRIA_ASSIGN(end, bench.end_of(open.event()));
                STRIA_RETURN_IF_ERROR(
                    bench.stays_open(end, "the event is open that it is the end of"));
              }
              STRIA_RETURN_IF_ERROR(fails ? open.fail(failure_number(95)) : open.succeed());
              if (late) {
                STRIA_ASSIGN(end, bench.end_of(open.event()));
              }
              STRIA_RETURN_IF_ERROR(is_well(bench, end, "the end of an event"));
              return open.close();
            });
      }
}

void add_use_cases(CaseMaker& maker) {
  // Work that overwrites what other work has used comes after it, and is done though that failed.
  for (const Op op : kOps)
    for (const bool fails : {false, true})
      add(maker, fmt::format("then_{}{}", name_of(op), fails ? "_after_a_failure" : ""),
          [op, fails](const Bench& bench) -> Status {
            STRIA_ASSIGN(const Event gate, bench.subject().host_event());
            STRIA_ASSIGN(Trial first, Trial::start(bench, Op::copy, list_of(gate)));
            STRIA_ASSIGN(const Event end, bench.end_of(first.done()));
            STRIA_ASSIGN(Trial second, Trial::start(bench, op, list_of(end)));
            STRIA_RETURN_IF_ERROR(bench.stays_open(second.done(), "the end it waits for is open"));
            STRIA_RETURN_IF_ERROR(fails ? signal_failure(bench, gate, failure_number(96))
                                        : bench.subject().signal(gate));
            STRIA_RETURN_IF_ERROR(second.was_done());
            if (!fails) return first.was_done();
            STRIA_RETURN_IF_ERROR(
                fails_with(bench, first.done(), failure_number(96), "what it came after"));
            return first.was_not_done();
          });
  // The buffer tells the order: read first, overwritten then.
  add(maker, "overwrites_after_the_reader", [](const Bench& bench) -> Status {
    const Bytes contents = pattern(300, 400);
    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
    STRIA_ASSIGN(const Buffer read, bench.buffer(contents));
    STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(300)));
    STRIA_ASSIGN(const Event copied, bench.copy(read, 0, target, 0, 300, list_of(gate)));
    STRIA_ASSIGN(const Event end, bench.end_of(copied));
    STRIA_ASSIGN(const Event filled, bench.fill(read, 300, 7, list_of(end)));
    STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "the reader before it has not begun"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(filled));
    STRIA_RETURN_IF_ERROR(bench.holds(target, contents, "what the reader copied"));
    return bench.holds(read, bytes_of(300, 7), "what was overwritten after it");
  });
  add(maker, "of_an_end_of_an_end", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
    std::vector<Event> ends;
    for (int i = 0; i < 20; ++i) {
      STRIA_ASSIGN(Event end, bench.end_of(i == 0 ? gate : ends.back()));
      ends.push_back(std::move(end));
    }
    STRIA_RETURN_IF_ERROR(bench.stays_open(ends.back(), "the first of all is open"));
    STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(97)));
    for (const Event& end : ends)
      STRIA_RETURN_IF_ERROR(is_well(bench, end, "the end of an end of a failed event"));
    return Status();
  });
  add(maker, "many_of_one_event", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, Kind::fill));
    std::vector<Event> ends;
    for (int i = 0; i < 50; ++i) {
      STRIA_ASSIGN(Event end, bench.end_of(open.event()));
      ends.push_back(std::move(end));
    }
    STRIA_RETURN_IF_ERROR(open.fail(failure_number(98)));
    for (const Event& end : ends) STRIA_RETURN_IF_ERROR(is_well(bench, end, "one of fifty ends"));
    return open.close();
  });
  add(maker, "released_early", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, Kind::copy));
    STRIA_ASSIGN(Event end, bench.end_of(open.event()));
    end.reset();
    STRIA_RETURN_IF_ERROR(open.succeed());
    return open.close();
  });
  // The event's own handle goes first.
  add(maker, "outlives_the_event", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
    STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
    Event end;
    {
      STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 3, list_of(gate)));
      STRIA_ASSIGN(end, bench.end_of(filled));
    }
    STRIA_RETURN_IF_ERROR(bench.stays_open(end, "the work is blocked whose end it is"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(is_well(bench, end, "the end of an event that was released"));
    return bench.holds(buffer, bytes_of(64, 3), "the buffer when the end is done");
  });
  add(maker, "of_a_host_event_released_unsignalled", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(Event event, bench.subject().host_event());
    STRIA_ASSIGN(const Event end, bench.end_of(event));
    STRIA_RETURN_IF_ERROR(bench.stays_open(end, "the host event is open"));
    event.reset();
    return is_well(bench, end, "the end of a host event that was released unsignalled");
  });
  add(maker, "among_others_in_a_list", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Event bad, bench.subject().host_event());
    STRIA_ASSIGN(const Event good, bench.subject().host_event());
    STRIA_ASSIGN(const Event end, bench.end_of(bad));
    STRIA_ASSIGN(Trial well, Trial::start(bench, Op::fill, list_of(end, good)));
    STRIA_ASSIGN(Trial failing, Trial::start(bench, Op::copy, list_of(end, bad, good)));
    STRIA_RETURN_IF_ERROR(signal_failure(bench, bad, failure_number(99)));
    STRIA_RETURN_IF_ERROR(bench.stays_open(well.done(), "one of its waits is open"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(good));
    STRIA_RETURN_IF_ERROR(well.was_done());
    STRIA_RETURN_IF_ERROR(
        fails_with(bench, failing.done(), failure_number(99), "who waits for event and end"));
    return failing.was_not_done();
  });
  add(maker, "calls_back_without_an_error", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Event event, bench.subject().host_event());
    STRIA_ASSIGN(const Event end, bench.end_of(event));
    SeenCallback& early = SeenCallback::make();
    STRIA_RETURN_IF_ERROR(early.ask(bench, end));
    STRIA_RETURN_IF_ERROR(signal_failure(bench, event, failure_number(100)));
    STRIA_RETURN_IF_ERROR(bench.finish(end));
    SeenCallback& late = SeenCallback::make();
    STRIA_RETURN_IF_ERROR(late.ask(bench, end));
    STRIA_RETURN_IF_ERROR(late.came_at_once());
    return early.came_once({});
  });
}

}  // namespace

void add_event_end_cases(CaseMaker& maker) {
  add_kind_cases(maker);
  add_use_cases(maker);
}

}  // namespace stria::conformance
