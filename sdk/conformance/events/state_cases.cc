// SPDX-License-Identifier: Apache-2.0
#include "events/state_cases.h"

#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

using Look = std::function<Status(const Bench&, const Event&)>;

constexpr uint64_t kUnwritten = 0x5151515151515151;

Status waits(const Bench& bench, const Event& event, uint64_t timeout_ns, StatusCode expected) {
  const Status got = Subject::failure(Slot::event_wait,
                                      bench.subject().tables().event.wait(event.get(), timeout_ns));
  if (got.code() == expected) return Status();
  return broken("event.wait with a timeout of {} ns gives '{}', not {}", timeout_ns,
                got.to_string(), name_of(expected));
}

Status queries(const Bench& bench, const Event& event, bool expected) {
  STRIA_ASSIGN(const bool done, bench.subject().is_done(event));
  if (done == expected) return Status();
  return broken("event.query says {}, not {}", int{done}, int{expected});
}

// The duration, or that it is refused; a refusal writes nothing.
Status has_duration(const Bench& bench, const Event& event, StatusCode expected, bool zero) {
  uint64_t nanoseconds = kUnwritten;
  const Status got =
      Subject::failure(Slot::event_duration_ns,
                       bench.subject().tables().event.duration_ns(event.get(), &nanoseconds));
  if (got.code() != expected)
    return broken("event.duration_ns gives '{}', not {}", got.to_string(), name_of(expected));
  if (!got.ok() && nanoseconds != kUnwritten)
    return broken_rule(Rule::no_output, "event.duration_ns failed and wrote its output");
  if (got.ok() && nanoseconds == kUnwritten)
    return broken("event.duration_ns says that it succeeded and wrote nothing");
  if (got.ok() && zero && nanoseconds != 0)
    return broken("event.duration_ns gives {}, not 0", nanoseconds);
  // Nothing here takes a minute.
  if (got.ok() && nanoseconds > 60'000'000'000)
    return broken("event.duration_ns gives {}, which is {} s", nanoseconds,
                  nanoseconds / 1'000'000'000);
  return Status();
}

Status has_status(const Bench& bench, const Event& event, const Failure& expected) {
  const Failure got = outcome_of(bench, event);
  if (is_same(got, expected)) return Status();
  return broken("event.status gives {}, not {}", got.to_string(), expected.to_string());
}

struct Question {
  std::string_view name, sentence;
  Look look;
};

void add_open_cases(CaseMaker& maker) {
  const Question questions[] = {
      {"query", says::kQuery,
       [](const Bench& bench, const Event& event) { return queries(bench, event, false); }},
      {"status", says::kStatus,
       [](const Bench& bench, const Event& event) -> Status {
         const Failure got = outcome_of(bench, event);
         if (got.code == STRIA_FAILED_PRECONDITION) return Status();
         return broken("event.status of an open event gives {}, not code {}", got.to_string(),
                       int{STRIA_FAILED_PRECONDITION});
       }},
      {"duration", says::kDurationOpen,
       [](const Bench& bench, const Event& event) {
         return has_duration(bench, event, StatusCode::failed_precondition, false);
       }},
      {"just_look", says::kWait,
       [](const Bench& bench, const Event& event) {
         return waits(bench, event, 0, StatusCode::deadline_exceeded);
       }},
      {"wait_a_little", says::kWait, [](const Bench& bench, const Event& event) -> Status {
         for (const uint64_t timeout : {1, 1000, 2'000'000})
           STRIA_RETURN_IF_ERROR(waits(bench, event, timeout, StatusCode::deadline_exceeded));
         return Status();
       }}};
  for (const Kind kind : kKinds)
    for (const Question& question : questions)
      add_bench_case(maker, 'Q', fmt::format("state.open.{}.{}", name_of(kind), question.name),
                     Level::right, question.sentence,
                     [kind, look = question.look](const Bench& bench) -> Status {
                       STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
                       // Twice: asking changes nothing.
                       for (int i = 0; i < 2; ++i) STRIA_RETURN_IF_ERROR(look(bench, open.event()));
                       STRIA_RETURN_IF_ERROR(open.succeed());
                       return open.close();
                     });
}

void add_done_cases(CaseMaker& maker) {
  const auto questions = [](bool zero) {
    return std::vector<Question>{
        {"query", says::kQuery,
         [](const Bench& bench, const Event& event) { return queries(bench, event, true); }},
        {"status", says::kStatus,
         [](const Bench& bench, const Event& event) { return has_status(bench, event, {}); }},
        {"duration", says::kDuration,
         [zero](const Bench& bench, const Event& event) {
           return has_duration(bench, event, StatusCode::ok, zero);
         }},
        {"wait", says::kWait, [](const Bench& bench, const Event& event) -> Status {
           for (const uint64_t timeout :
                {uint64_t{0}, uint64_t{1}, uint64_t{5'000'000}, UINT64_MAX})
             STRIA_RETURN_IF_ERROR(waits(bench, event, timeout, StatusCode::ok));
           return Status();
         }}};
  };
  for (const Kind kind : kKinds)
    for (const Question& question : questions(kind == Kind::host))
      add_bench_case(maker, 'Q', fmt::format("state.done.{}.{}", name_of(kind), question.name),
                     Level::right, question.sentence,
                     [kind, look = question.look](const Bench& bench) -> Status {
                       STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
                       STRIA_RETURN_IF_ERROR(open.succeed());
                       for (int i = 0; i < 2; ++i) STRIA_RETURN_IF_ERROR(look(bench, open.event()));
                       return open.close();
                     });
  // An unmap cannot be held open: it waits for nothing.
  for (const Question& question : questions(false))
    add_bench_case(maker, 'Q', fmt::format("state.done.unmap.{}", question.name), Level::right,
                   question.sentence, [look = question.look](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(100)));
                     STRIA_ASSIGN(Mapped mapped, map_now(bench, MapMode::discard, buffer, 0, 100));
                     mapped.write(Bytes(100));
                     STRIA_ASSIGN(const Event ended, mapped.unmap());
                     STRIA_RETURN_IF_ERROR(bench.finish(ended));
                     return look(bench, ended);
                   });
  // What was done keeps what it says, whatever happens later.
  for (const Kind kind : kKinds)
    add_bench_case(maker, 'Q', fmt::format("state.done.{}.stays", name_of(kind)), Level::right,
                   says::kQuery, [kind](const Bench& bench) -> Status {
                     STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
                     STRIA_RETURN_IF_ERROR(open.succeed());
                     uint64_t first = 0, second = 0;
                     STRIA_SLOT(bench.subject(), event, duration_ns, open.event().get(), &first);
                     for (int i = 0; i < 20; ++i) {
                       STRIA_ASSIGN(Trial later, Trial::start(bench, Op::fill));
                       STRIA_RETURN_IF_ERROR(later.was_done());
                       STRIA_RETURN_IF_ERROR(queries(bench, open.event(), true));
                       STRIA_RETURN_IF_ERROR(has_status(bench, open.event(), {}));
                     }
                     STRIA_SLOT(bench.subject(), event, duration_ns, open.event().get(), &second);
                     if (first != second)
                       return broken_rule(
                           rule_of(Slot::event_duration_ns),
                           "event.duration_ns gives {} and then {} of the same event", first,
                           second);
                     return open.close();
                   });
}

void add_failed_cases(CaseMaker& maker) {
  const Failure failure = failure_number(70);
  for (const Kind kind : kKinds) {
    if (kind == Kind::end) continue;  // does not fail: Q.end.*
    const Question questions[] = {
        {"query", says::kQuery,
         [](const Bench& bench, const Event& event) { return queries(bench, event, true); }},
        {"status", says::kStatus,
         [failure](const Bench& bench, const Event& event) {
           return has_status(bench, event, failure);
         }},
        {"duration", says::kDuration,
         [](const Bench& bench, const Event& event) {
           return has_duration(bench, event, StatusCode::ok, true);
         }},
        {"wait", says::kWait, [](const Bench& bench, const Event& event) -> Status {
           for (const uint64_t timeout :
                {uint64_t{0}, uint64_t{1}, uint64_t{5'000'000}, UINT64_MAX})
             STRIA_RETURN_IF_ERROR(waits(bench, event, timeout, StatusCode::ok));
           return Status();
         }}};
    for (const Question& question : questions)
      add_bench_case(maker, 'Q', fmt::format("state.failed.{}.{}", name_of(kind), question.name),
                     Level::right, question.sentence,
                     [kind, failure, look = question.look](const Bench& bench) -> Status {
                       STRIA_ASSIGN(OpenEvent open, OpenEvent::make(bench, kind));
                       STRIA_RETURN_IF_ERROR(open.fail(failure));
                       for (int i = 0; i < 3; ++i) STRIA_RETURN_IF_ERROR(look(bench, open.event()));
                       return open.close();
                     });
  }
}

}  // namespace

void add_event_state_cases(CaseMaker& maker) {
  add_open_cases(maker);
  add_done_cases(maker);
  add_failed_cases(maker);
}

}  // namespace stria::conformance
