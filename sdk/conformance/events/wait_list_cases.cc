// SPDX-License-Identifier: Apache-2.0
#include "events/wait_list_cases.h"

#include <algorithm>
#include <numeric>

#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

// Host events that a list names, some of them more than once.
struct ListKind {
  std::string_view name, sentence;
  size_t events;                  // how many different ones
  std::vector<size_t> list;       // of them, in the list's order
  std::vector<size_t> signalled;  // before the work begins
  std::vector<size_t> later;      // after it has begun, in this order
};

std::vector<size_t> count_to(size_t count) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

std::vector<size_t> backward(size_t count) {
  std::vector<size_t> out = count_to(count);
  std::reverse(out.begin(), out.end());
  return out;
}

const std::vector<ListKind>& list_kinds() {
  static const std::vector<ListKind> kinds = {
      {"one_open", says::kStartsWhenAllDone, 1, {0}, {}, {0}},
      {"one_done", says::kStartsWhenAllDone, 1, {0}, {0}, {}},
      {"two_open", says::kStartsWhenAllDone, 2, {0, 1}, {}, {0, 1}},
      {"two_open_backward", says::kStartsWhenAllDone, 2, {0, 1}, {}, {1, 0}},
      {"first_of_three_open", says::kStartsWhenAllDone, 3, {0, 1, 2}, {1, 2}, {0}},
      {"middle_of_three_open", says::kStartsWhenAllDone, 3, {0, 1, 2}, {0, 2}, {1}},
      {"last_of_three_open", says::kStartsWhenAllDone, 3, {0, 1, 2}, {0, 1}, {2}},
      {"twice_the_same", says::kStartsWhenAllDone, 1, {0, 0}, {}, {0}},
      {"twice_the_same_done", says::kStartsWhenAllDone, 1, {0, 0}, {0}, {}},
      {"same_among_others", says::kStartsWhenAllDone, 3, {0, 1, 0, 2, 0, 1}, {}, {1, 0, 2}},
      {"fifty_times_the_same", says::kStartsWhenAllDone, 1, std::vector<size_t>(50, 0), {}, {0}},
      {"sixteen", says::kStartsWhenAllDone, 16, count_to(16), {}, count_to(16)},
      {"sixty_five_backward", says::kStartsWhenAllDone, 65, count_to(65), {}, backward(65)},
      {"hundred_done", says::kStartsWhenAllDone, 100, count_to(100), count_to(100), {}},
      {"hundred_last_open", says::kStartsWhenAllDone, 100, count_to(100), count_to(99), {99}}};
  return kinds;
}

Status try_list(const Bench& bench, Op op, const ListKind& kind) {
  std::vector<Event> events;
  for (size_t i = 0; i < kind.events; ++i) {
    STRIA_ASSIGN(Event event, bench.subject().host_event());
    events.push_back(std::move(event));
  }
  EventList list;
  for (const size_t i : kind.list) list.push_back(events[i].get());
  for (const size_t i : kind.signalled) STRIA_RETURN_IF_ERROR(bench.subject().signal(events[i]));
  STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list));
  // The list was the call's; an event that it named may be gone by now, if nobody needs it.
  std::fill(list.begin(), list.end(), nullptr);
  for (const size_t i : kind.later) {
    // Before the first and the last of them: more looks would only take time.
    if (i == kind.later.front() || i == kind.later.back())
      STRIA_RETURN_IF_ERROR(
          bench.stays_open(trial.done(), fmt::format("wait {} of its list is open", i)));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(events[i]));
  }
  return trial.was_done();
}

void add_list_cases(CaseMaker& maker) {
  for (const Op op : kOps)
    for (const ListKind& kind : list_kinds())
      add_bench_case(maker, 'Q', fmt::format("waits.{}.{}", name_of(op), kind.name), Level::right,
                     kind.sentence, [op, &kind](const Bench& bench) -> Status {
                       return try_list(bench, op, kind);
                     });
  for (const Op op : kOps) {
    add_bench_case(maker, 'Q', fmt::format("waits.{}.no_list", name_of(op)), Level::right,
                   says::kNullList, [op](const Bench& bench) -> Status {
                     // An empty vector may have any address: this one's is null.
                     EventList none;
                     none.shrink_to_fit();
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, op, none));
                     return trial.was_done();
                   });
    // Where nothing is counted nothing is read.
    add_bench_case(maker, 'Q', fmt::format("waits.{}.list_of_none", name_of(op)), Level::right,
                   says::kNullList, [op](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Event open, bench.subject().host_event());
                     EventList none = list_of(open);
                     none.pop_back();
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, op, none));
                     return trial.was_done();
                   });
    // Waits of every kind in one list, all behind one event.
    add_bench_case(maker, 'Q', fmt::format("waits.{}.all_kinds", name_of(op)), Level::right,
                   says::kStartsWhenAllDone, [op](const Bench& bench) -> Status {
                     std::vector<OpenEvent> open;
                     EventList list;
                     for (const Kind kind : {Kind::host, Kind::fill, Kind::copy, Kind::map_current,
                                             Kind::map_discard}) {
                       STRIA_ASSIGN(OpenEvent one, OpenEvent::make(bench, kind));
                       list.push_back(one.event().get());
                       open.push_back(std::move(one));
                     }
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list));
                     for (size_t i = 0; i < open.size(); ++i) {
                       const size_t n = (i * 3 + 2) % open.size();
                       if (i == 0 || i + 1 == open.size())
                         STRIA_RETURN_IF_ERROR(bench.stays_open(
                             trial.done(), fmt::format("wait {} of its list is open", n)));
                       STRIA_RETURN_IF_ERROR(open[n].succeed());
                     }
                     STRIA_RETURN_IF_ERROR(trial.was_done());
                     for (OpenEvent& one : open) STRIA_RETURN_IF_ERROR(one.close());
                     return Status();
                   });
    // The handles of what it waits for go at once; the waits stay.
    add_bench_case(
        maker, 'Q', fmt::format("waits.{}.released_handles", name_of(op)), Level::right,
        says::kHandleInFlight, [op](const Bench& bench) -> Status {
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
          STRIA_ASSIGN(Event first, bench.fill(buffer, 64, 1, list_of(gate)));
          STRIA_ASSIGN(Event second, bench.fill(buffer, 64, 2, list_of(first)));
          STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list_of(second, first)));
          first.reset();
          second.reset();
          STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "what it waits for is blocked"));
          STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
          STRIA_RETURN_IF_ERROR(trial.was_done());
          return bench.holds(buffer, bytes_of(64, 2), "the buffer of what it waited for");
        });
  }
  add_bench_case(maker, 'Q', "waits.fill.ten_thousand", Level::robust, says::kStartsWhenAllDone,
                 [](const Bench& bench) -> Status {
                   return try_list(bench, Op::fill,
                                   {"", "", 10'000, count_to(10'000), count_to(5000), [] {
                                      std::vector<size_t> rest(5000);
                                      std::iota(rest.begin(), rest.end(), size_t{5000});
                                      return rest;
                                    }()});
                 });
}

// Each slot returns while what it waits for is open: not even a moment later would it be right to
// wait inside.
void add_return_cases(CaseMaker& maker) {
  for (const Op op : kOps)
    add_bench_case(maker, 'Q', fmt::format("waits.{}.returns_before", name_of(op)), Level::right,
                   says::kGiveAnEvent, [op](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                     // On one thread: a call that waited would never come back.
                     std::vector<Trial> trials;
                     for (int i = 0; i < 20; ++i) {
                       const EventList waits =
                           trials.empty() ? list_of(gate) : list_of(trials.back().done(), gate);
                       STRIA_ASSIGN(Trial trial, Trial::start(bench, op, waits));
                       trials.push_back(std::move(trial));
                     }
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
                     for (Trial& trial : trials) STRIA_RETURN_IF_ERROR(trial.was_done());
                     return Status();
                   });
}

}  // namespace

void add_event_wait_list_cases(CaseMaker& maker) {
  add_list_cases(maker);
  add_return_cases(maker);
}

}  // namespace stria::conformance
