// SPDX-License-Identifier: Apache-2.0
#include "events/failure_cases.h"

#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 300;

// Host events that a list names in their order.
Result<std::vector<Event>> make_gates(const Bench& bench, size_t count) {
  std::vector<Event> out;
  for (size_t i = 0; i < count; ++i) {
    STRIA_ASSIGN(Event gate, bench.subject().host_event());
    out.push_back(std::move(gate));
  }
  return out;
}

EventList all_of(const std::vector<Event>& events) {
  EventList out;
  for (const Event& event : events) out.push_back(event.get());
  return out;
}

// ---- of each kind of work

// What happens to one host event of a list.
struct Step {
  size_t gate;
  int failure;  // 0: it is done and well
};

struct FailureKind {
  std::string_view name;
  size_t gates;
  std::vector<Step> before, after;  // before the work began, and after it
  int expected;                     // the failure that it must end with
};

const std::vector<FailureKind>& failure_kinds() {
  static const std::vector<FailureKind> kinds = {
      {"before_it_began", 1, {{0, 1}}, {}, 1},
      {"after_it_began", 1, {}, {{0, 1}}, 1},
      {"second_of_two", 2, {}, {{0, 0}, {1, 2}}, 2},
      {"first_of_two", 2, {}, {{0, 1}, {1, 0}}, 1},
      {"both_in_list_order", 2, {}, {{0, 1}, {1, 2}}, 1},
      {"both_against_list_order", 2, {}, {{1, 2}, {0, 1}}, 1},
      {"both_before_it_began", 2, {{1, 2}, {0, 1}}, {}, 1},
      {"later_one_before_it_began", 2, {{1, 2}}, {{0, 1}}, 1},
      {"earlier_one_before_it_began", 2, {{0, 1}}, {{1, 2}}, 1},
      {"two_of_five", 5, {{0, 0}}, {{4, 5}, {1, 0}, {3, 0}, {2, 3}}, 3},
      {"all_of_five_backward", 5, {}, {{4, 5}, {3, 4}, {2, 3}, {1, 2}, {0, 1}}, 1},
      {"last_of_five_first", 5, {{4, 5}}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}, 5}};
  return kinds;
}

Status try_failure(const Bench& bench, Op op, const FailureKind& kind) {
  STRIA_ASSIGN(const std::vector<Event> gates, make_gates(bench, kind.gates));
  const auto take = [&](const Step& step) -> Status {
    return step.failure == 0
               ? bench.subject().signal(gates[step.gate])
               : signal_failure(bench, gates[step.gate], failure_number(step.failure));
  };
  for (const Step& step : kind.before) STRIA_RETURN_IF_ERROR(take(step));
  STRIA_ASSIGN(Trial trial, Trial::start(bench, op, all_of(gates)));
  for (const Step& step : kind.after) {
    // Failed already or not: it ends after all waits are over.
    STRIA_RETURN_IF_ERROR(bench.stays_open(
        trial.done(), fmt::format("wait {} of {} is open", step.gate, kind.gates)));
    STRIA_RETURN_IF_ERROR(take(step));
  }
  STRIA_RETURN_IF_ERROR(fails_with(bench, trial.done(), failure_number(kind.expected),
                                   fmt::format("{}, whose waits fail {}", name_of(op), kind.name)));
  return trial.was_not_done();
}

void add_kind_cases(CaseMaker& maker) {
  for (const Op op : kOps)
    for (const FailureKind& kind : failure_kinds())
      add_bench_case(maker, 'Q', fmt::format("failure.{}.{}", name_of(op), kind.name), Level::right,
                     says::kSameError, [op, &kind](const Bench& bench) -> Status {
                       return try_failure(bench, op, kind);
                     });
  for (const Op op : kOps)
    add_bench_case(
        maker, 'Q', fmt::format("failure.{}.twice_the_same", name_of(op)), Level::right,
        says::kSameError, [op](const Bench& bench) -> Status {
          STRIA_ASSIGN(const std::vector<Event> gates, make_gates(bench, 2));
          STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list_of(gates[0], gates[1], gates[0])));
          STRIA_RETURN_IF_ERROR(signal_failure(bench, gates[0], failure_number(6)));
          STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "the second of three is open"));
          STRIA_RETURN_IF_ERROR(signal_failure(bench, gates[1], failure_number(7)));
          STRIA_RETURN_IF_ERROR(fails_with(bench, trial.done(), failure_number(6),
                                           "work that waits twice for what failed"));
          return trial.was_not_done();
        });
  // After each, the same kind of work succeeds.
  for (const Op op : kOps)
    add_bench_case(maker, 'Q', fmt::format("failure.{}.then_the_next", name_of(op)), Level::right,
                   says::kSameError, [op](const Bench& bench) -> Status {
                     for (int i = 0; i < 5; ++i) {
                       STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                       STRIA_ASSIGN(Trial bad, Trial::start(bench, op, list_of(gate)));
                       STRIA_ASSIGN(Trial good, Trial::start(bench, op));
                       STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(i)));
                       STRIA_RETURN_IF_ERROR(fails_with(bench, bad.done(), failure_number(i),
                                                        "work whose wait failed"));
                       STRIA_RETURN_IF_ERROR(good.was_done());
                       STRIA_RETURN_IF_ERROR(bad.was_not_done());
                     }
                     return Status();
                   });
}

// ---- through work of each kind

// A failure that passes through one kind of work to another.
void add_pass_cases(CaseMaker& maker) {
  for (const Op first : kOps)
    for (const Op second : kOps)
      add_bench_case(
          maker, 'Q', fmt::format("failure.through_{}_to_{}", name_of(first), name_of(second)),
          Level::right, says::kFirstCause, [first, second](const Bench& bench) -> Status {
            const Failure failure = failure_number(10);
            STRIA_ASSIGN(const Event gate, bench.subject().host_event());
            STRIA_ASSIGN(Trial one, Trial::start(bench, first, list_of(gate)));
            STRIA_ASSIGN(Trial two, Trial::start(bench, second, list_of(one.done())));
            STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure));
            STRIA_RETURN_IF_ERROR(fails_with(bench, two.done(), failure, name_of(second)));
            STRIA_RETURN_IF_ERROR(fails_with(bench, one.done(), failure, name_of(first)));
            STRIA_RETURN_IF_ERROR(two.was_not_done());
            return one.was_not_done();
          });
}

void add_code_cases(CaseMaker& maker) {
  for (stria_code code = STRIA_INVALID_ARGUMENT; code <= STRIA_INTERNAL; ++code)
    add_bench_case(
        maker, 'Q', fmt::format("failure.code_{}", code), Level::right, says::kFirstCause,
        [code](const Bench& bench) -> Status {
          Failure failure = failure_number(20 + code);
          failure.code = code;
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(Trial copied, Trial::start(bench, Op::copy, list_of(gate)));
          STRIA_ASSIGN(Trial mapped, Trial::start(bench, Op::map_current, list_of(copied.done())));
          STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure));
          STRIA_RETURN_IF_ERROR(fails_with(bench, gate, failure, "the host event"));
          STRIA_RETURN_IF_ERROR(fails_with(bench, mapped.done(), failure, "a mapping behind it"));
          STRIA_RETURN_IF_ERROR(mapped.was_not_done());
          return copied.was_not_done();
        });
  struct Text {
    std::string_view name;
    std::string text;
  };
  for (const Text& text : {Text{"long_message", std::string(2000, 'x') + "the end"},
                           {"message_of_lines", "one\ntwo\n\tthree"},
                           {"message_in_utf8", "\xd0\xbf\xd0\xb0\xd0\xbc\xd1\x8f\xd1\x82\xd1\x8c"},
                           {"message_with_braces", "{} %s %n {0} \\"},
                           {"short_message", "x"}})
    add_bench_case(maker, 'Q', fmt::format("failure.{}", text.name), Level::right,
                   says::kFirstCause, [message = text.text](const Bench& bench) -> Status {
                     Failure failure = failure_number(40);
                     failure.message = message;
                     failure.native_message = message;
                     failure.native_code = INT64_MIN;
                     STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(gate)));
                     STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure));
                     STRIA_RETURN_IF_ERROR(fails_with(bench, trial.done(), failure, "a fill"));
                     return trial.was_not_done();
                   });
}

// ---- graphs of a known form

// Fills of one buffer in a row, all behind one event.
Status try_chain(const Bench& bench, int length) {
  const Failure failure = failure_number(50);
  STRIA_ASSIGN(const Event gate, bench.subject().host_event());
  const Bytes contents = pattern(kBytes, 350);
  STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
  std::vector<Event> events;
  for (int i = 0; i < length; ++i) {
    STRIA_ASSIGN(Event filled, bench.fill(buffer, kBytes, static_cast<unsigned>(i % 250),
                                          events.empty() ? list_of(gate) : list_of(events.back()),
                                          static_cast<size_t>(i) % bench.executors()));
    events.push_back(std::move(filled));
  }
  STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure));
  STRIA_RETURN_IF_ERROR(bench.flush());
  STRIA_SLOT(bench.subject(), event, wait, events.back().get(), 30'000'000'000);
  STRIA_RETURN_IF_ERROR(fails_with(bench, events.back(), failure,
                                   fmt::format("the last of {} fills in a row", length)));
  STRIA_RETURN_IF_ERROR(fails_with(bench, events[events.size() / 2], failure, "one in the middle"));
  return bench.holds(buffer, contents, "a buffer whose fills were not to be done");
}

void add_form_cases(CaseMaker& maker) {
  for (const int length : {2, 10, 100, 1000})
    add_bench_case(maker, 'Q', fmt::format("failure.chain_{}", length), Level::right,
                   says::kFirstCause,
                   [length](const Bench& bench) -> Status { return try_chain(bench, length); });
  add_bench_case(maker, 'Q', "failure.chain_30000", Level::robust, says::kFirstCause,
                 [](const Bench& bench) -> Status { return try_chain(bench, 30'000); })
      .limit = std::chrono::seconds(60);
  add_bench_case(
      maker, 'Q', "failure.chain_over_3_executors", Level::robust, says::kFirstCause,
      [](const Bench& bench) -> Status { return try_chain(bench, 60); }, 3);
  add_bench_case(
      maker, 'Q', "failure.reaches_all_dependants", Level::right, says::kFirstCause,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        std::vector<Trial> trials;
        for (size_t i = 0; i < 30; ++i) {
          STRIA_ASSIGN(Trial trial,
                       Trial::start(bench, kOps[i % 4],
                                    i < 5 ? list_of(gate) : list_of(trials[i / 5 - 1].done())));
          trials.push_back(std::move(trial));
        }
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(51)));
        for (Trial& trial : trials)
          STRIA_RETURN_IF_ERROR(
              fails_with(bench, trial.done(), failure_number(51), "one of thirty dependants"));
        for (Trial& trial : trials) STRIA_RETURN_IF_ERROR(trial.was_not_done());
        return Status();
      });
  // Only those: what is beside a failed work, and what comes after it without waiting for it.
  add_bench_case(
      maker, 'Q', "failure.reaches_nobody_else", Level::right, says::kFirstCause,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event bad, bench.subject().host_event());
        STRIA_ASSIGN(const Event good, bench.subject().host_event());
        std::vector<Trial> failing, well;
        for (size_t i = 0; i < 12; ++i) {
          STRIA_ASSIGN(Trial one, Trial::start(bench, kOps[i % 4], list_of(bad)));
          STRIA_ASSIGN(Trial other,
                       Trial::start(bench, kOps[i % 4], i % 3 == 0 ? EventList() : list_of(good)));
          failing.push_back(std::move(one));
          well.push_back(std::move(other));
        }
        STRIA_RETURN_IF_ERROR(signal_failure(bench, bad, failure_number(52)));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(good));
        for (Trial& trial : well) STRIA_RETURN_IF_ERROR(trial.was_done());
        for (Trial& trial : failing) {
          STRIA_RETURN_IF_ERROR(
              fails_with(bench, trial.done(), failure_number(52), "work whose wait failed"));
          STRIA_RETURN_IF_ERROR(trial.was_not_done());
        }
        return Status();
      });
  // Two failures meet in each order of a list.
  add_bench_case(
      maker, 'Q', "failure.meets_another", Level::right, says::kSameError,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const std::vector<Event> gates, make_gates(bench, 2));
        STRIA_ASSIGN(Trial a, Trial::start(bench, Op::fill, list_of(gates[0])));
        STRIA_ASSIGN(Trial b, Trial::start(bench, Op::copy, list_of(gates[1])));
        STRIA_ASSIGN(Trial ab, Trial::start(bench, Op::fill, list_of(a.done(), b.done())));
        STRIA_ASSIGN(Trial ba, Trial::start(bench, Op::copy, list_of(b.done(), a.done())));
        STRIA_ASSIGN(Trial both, Trial::start(bench, Op::fill, list_of(ba.done(), ab.done())));
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gates[1], failure_number(2)));
        STRIA_RETURN_IF_ERROR(bench.stays_open(ab.done(), "the first of its two waits is open"));
        STRIA_RETURN_IF_ERROR(bench.stays_open(ba.done(), "the second of its two waits is open"));
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gates[0], failure_number(1)));
        STRIA_RETURN_IF_ERROR(
            fails_with(bench, ab.done(), failure_number(1), "who waits for 1, 2"));
        STRIA_RETURN_IF_ERROR(
            fails_with(bench, ba.done(), failure_number(2), "who waits for 2, 1"));
        STRIA_RETURN_IF_ERROR(
            fails_with(bench, both.done(), failure_number(2), "who waits for both of them"));
        for (Trial* trial : {&a, &b, &ab, &ba, &both}) STRIA_RETURN_IF_ERROR(trial->was_not_done());
        return Status();
      });
  // In the middle of a list of a hundred that are all well.
  for (const size_t place : {0, 49, 99})
    add_bench_case(
        maker, 'Q', fmt::format("failure.at_{}_of_100", place), Level::right, says::kSameError,
        [place](const Bench& bench) -> Status {
          STRIA_ASSIGN(const std::vector<Event> gates, make_gates(bench, 100));
          STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::copy, all_of(gates)));
          STRIA_RETURN_IF_ERROR(signal_failure(bench, gates[place], failure_number(53)));
          STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "99 of its 100 waits are open"));
          for (size_t i = 0; i < gates.size(); ++i)
            if (i != place) STRIA_RETURN_IF_ERROR(bench.subject().signal(gates[i]));
          STRIA_RETURN_IF_ERROR(fails_with(bench, trial.done(), failure_number(53),
                                           "work with one failed wait of 100"));
          return trial.was_not_done();
        });
  // The event's error stands alone: it stays when all that it came from is gone.
  add_bench_case(
      maker, 'Q', "failure.outlives_its_cause", Level::right,
      "It stands alone: no table is needed to read or free it.", [](const Bench& bench) -> Status {
        Event last;
        stria_error* error = nullptr;
        {
          STRIA_ASSIGN(const Event gate, bench.subject().host_event());
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
          STRIA_ASSIGN(const Event first, bench.fill(buffer, 64, 1, list_of(gate)));
          STRIA_ASSIGN(last, bench.fill(buffer, 64, 2, list_of(first)));
          STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(54)));
        }
        STRIA_RETURN_IF_ERROR(fails_with(bench, last, failure_number(54), "the last of two fills"));
        error = bench.subject().tables().event.status(last.get());
        last.reset();
        if (!error) return broken("event.status gives an error the first time and none the second");
        const Failure got = copy_of(*error);
        if (error->release) error->release(error);
        if (is_same(got, failure_number(54))) return Status();
        return broken("an error whose event was released is {}", got.to_string());
      });
}

}  // namespace

void add_event_failure_cases(CaseMaker& maker) {
  add_kind_cases(maker);
  add_pass_cases(maker);
  add_code_cases(maker);
  add_form_cases(maker);
}

}  // namespace stria::conformance
