// SPDX-License-Identifier: Apache-2.0
#include "events/signal_cases.h"

#include <thread>

#include "events/sentences.h"
#include "events/trial.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"

namespace stria::conformance {
namespace {

// ---- once

// Signals in both ways, and once more.
Status try_twice(const Bench& bench, bool first_fails, bool second_fails) {
  STRIA_ASSIGN(const Event event, bench.subject().host_event());
  STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(event)));
  const Failure first = failure_number(60);
  STRIA_RETURN_IF_ERROR(first_fails ? signal_failure(bench, event, first)
                                    : bench.subject().signal(event));
  for (int i = 0; i < 3; ++i) {
    const Status again = second_fails ? signal_failure(bench, event, failure_number(61 + i))
                                      : bench.subject().signal(event);
    if (again.code() != StatusCode::failed_precondition)
      return broken("signalling an event once more gives '{}', not {}", again.to_string(),
                    name_of(StatusCode::failed_precondition));
  }
  const Failure got = outcome_of(bench, event);
  if (!is_same(got, first_fails ? first : Failure()))
    return broken("after a second call of event.signal the event ends with {}", got.to_string());
  if (!first_fails) return trial.was_done();
  STRIA_RETURN_IF_ERROR(fails_with(bench, trial.done(), first, "what waited for the event"));
  return trial.was_not_done();
}

void add_once_cases(CaseMaker& maker) {
  for (const bool first : {false, true})
    for (const bool second : {false, true})
      add_bench_case(
          maker, 'Q',
          fmt::format("signal.{}_then_{}", first ? "failed" : "done", second ? "failed" : "done"),
          Level::right, says::kSecondSignal, [first, second](const Bench& bench) -> Status {
            return try_twice(bench, first, second);
          });
  add_bench_case(maker, 'Q', "signal.is_seen_at_once", Level::right, says::kSignal,
                 [](const Bench& bench) -> Status {
                   for (int i = 0; i < 100; ++i) {
                     STRIA_ASSIGN(const Event event, bench.subject().host_event());
                     if (i % 2 == 0)
                       STRIA_RETURN_IF_ERROR(bench.subject().signal(event));
                     else
                       STRIA_RETURN_IF_ERROR(signal_failure(bench, event, failure_number(i)));
                     STRIA_ASSIGN(const bool done, bench.subject().is_done(event));
                     if (!done) return broken("event.query says 0 after event.signal");
                     const Failure got = outcome_of(bench, event);
                     if (!is_same(got, i % 2 == 0 ? Failure() : failure_number(i)))
                       return broken("after event.signal the event ends with {}", got.to_string());
                   }
                   return Status();
                 });
  add_bench_case(maker, 'Q', "signal.many_backward", Level::right, says::kHostEvent,
                 [](const Bench& bench) -> Status {
                   std::vector<Event> events;
                   for (int i = 0; i < 1000; ++i) {
                     STRIA_ASSIGN(Event event, bench.subject().host_event());
                     events.push_back(std::move(event));
                   }
                   for (size_t i = events.size(); i-- > 0;) {
                     STRIA_ASSIGN(const bool early, bench.subject().is_done(events[i]));
                     if (early) return broken("event {} is done before it was signalled", i);
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(events[i]));
                   }
                   for (const Event& event : events)
                     STRIA_RETURN_IF_ERROR(bench.subject().wait(event));
                   return Status();
                 });
  add_bench_case(maker, 'Q', "signal.by_another_thread", Level::robust, says::kHostEvent,
                 [](const Bench& bench) -> Status {
                   for (int i = 0; i < 20; ++i) {
                     STRIA_ASSIGN(const Event event, bench.subject().host_event());
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::copy, list_of(event)));
                     Status signalled;
                     std::thread other([&] { signalled = bench.subject().signal(event); });
                     const Status done = trial.was_done();
                     other.join();
                     STRIA_RETURN_IF_ERROR(signalled);
                     STRIA_RETURN_IF_ERROR(done);
                   }
                   return Status();
                 });
  // Released as soon as it was signalled: that is no release without a signal.
  add_bench_case(maker, 'Q', "signal.then_release", Level::right, says::kHandleInFlight,
                 [](const Bench& bench) -> Status {
                   for (const Op op : kOps) {
                     if (op == Op::map_read) continue;
                     STRIA_ASSIGN(Event event, bench.subject().host_event());
                     STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list_of(event)));
                     STRIA_RETURN_IF_ERROR(bench.subject().signal(event));
                     event.reset();
                     STRIA_RETURN_IF_ERROR(trial.was_done().with_context(
                         "behind an event that was released after its signal"));
                   }
                   return Status();
                 });
}

// ---- the error that it is given

// Signals with that error and gives what the event then says.
Result<Failure> through_signal(const Bench& bench, const stria_error& error,
                               std::vector<Failure>* causes = nullptr) {
  STRIA_ASSIGN(const Event event, bench.subject().host_event());
  STRIA_SLOT(bench.subject(), event, signal, event.get(), &error);
  stria_error* const got = bench.subject().tables().event.status(event.get());
  if (!got) return broken("an event that was signalled with an error is well");
  const Failure out = copy_of(*got);
  if (causes)
    for (const stria_error* cause = STRIA_SIZED(*got, cause, nullptr); cause && causes->size() < 8;
         cause = STRIA_SIZED(*cause, cause, nullptr))
      causes->push_back(copy_of(*cause));
  if (got->release) got->release(got);
  return out;
}

stria_error error_of(const Failure& failure) {
  stria_error error{};
  error.size = sizeof error;
  error.code = failure.code;
  error.native_code = failure.native_code;
  error.message = hal::to_c(failure.message);
  error.native_message = hal::to_c(failure.native_message);
  error.place = hal::to_c(failure.place);
  error.suggestion = hal::to_c(failure.suggestion);
  error.release = [](stria_error*) {};
  return error;
}

void add_error_cases(CaseMaker& maker) {
  add_bench_case(maker, 'Q', "signal.error_without_texts", Level::right, says::kSignal,
                 [](const Bench& bench) -> Status {
                   stria_error error = error_of(failure_number(1));
                   error.native_message = error.place = error.suggestion = {nullptr, 0};
                   Failure expected = failure_number(1);
                   expected.native_message.clear();
                   STRIA_ASSIGN(const Failure got, through_signal(bench, error));
                   if (is_same(got, expected)) return Status();
                   return broken("an error with a message alone becomes {}", got.to_string());
                 });
  // The text's size counts, not a zero at its end.
  add_bench_case(maker, 'Q', "signal.error_with_part_of_a_text", Level::right, says::kSignal,
                 [](const Bench& bench) -> Status {
                   const std::string text = "this is said and this is not";
                   stria_error error = error_of(failure_number(2));
                   error.message = {text.data(), 12};
                   STRIA_ASSIGN(const Failure got, through_signal(bench, error));
                   if (got.message == "this is said") return Status();
                   return broken("the first 12 bytes of '{}' become '{}'", text, got.message);
                 });
  // A member beyond the error's size counts as empty: what lies there is no pointer.
  add_bench_case(maker, 'Q', "signal.error_of_a_shorter_struct", Level::right,
                 "A reader uses a member only if all of it lies within `size`; one beyond counts "
                 "as 0, NULL or "
                 "empty.",
                 [](const Bench& bench) -> Status {
                   stria_error error = error_of(failure_number(3));
                   error.size = offsetof(stria_error, native_message);
                   const auto nowhere = reinterpret_cast<const char*>(uintptr_t{0x51});
                   error.native_message = error.place = error.suggestion = {nowhere, 5};
                   error.cause = reinterpret_cast<const stria_error*>(uintptr_t{0x58});
                   Failure expected = failure_number(3);
                   expected.native_message.clear();
                   STRIA_ASSIGN(const Failure got, through_signal(bench, error));
                   if (is_same(got, expected)) return Status();
                   return broken("an error of {} bytes becomes {}", error.size, got.to_string());
                 });
  add_bench_case(maker, 'Q', "signal.error_with_place_and_suggestion", Level::robust, says::kSignal,
                 [](const Bench& bench) -> Status {
                   const Failure given = failure_number(4);
                   STRIA_ASSIGN(const Failure got, through_signal(bench, error_of(given)));
                   if (got.place == given.place && got.suggestion == given.suggestion)
                     return Status();
                   return broken("place '{}' and suggestion '{}' become '{}' and '{}'", given.place,
                                 given.suggestion, got.place, got.suggestion);
                 });
  add_bench_case(
      maker, 'Q', "signal.error_with_causes", Level::robust, says::kSignal,
      [](const Bench& bench) -> Status {
        const Failure texts[] = {failure_number(5), failure_number(6), failure_number(7)};
        stria_error errors[] = {error_of(texts[0]), error_of(texts[1]), error_of(texts[2])};
        errors[0].cause = &errors[1];
        errors[1].cause = &errors[2];
        std::vector<Failure> causes;
        STRIA_ASSIGN(const Failure got, through_signal(bench, errors[0], &causes));
        if (!is_same(got, texts[0])) return broken("the error becomes {}", got.to_string());
        if (causes.size() != 2)
          return broken("an error with a chain of 2 causes becomes one with {}", causes.size());
        for (size_t i = 0; i < causes.size(); ++i)
          if (!is_same(causes[i], texts[i + 1]))
            return broken("cause {} becomes {}", i + 1, causes[i].to_string());
        return Status();
      });
}

// ---- released without a signal

void add_unsignalled_cases(CaseMaker& maker) {
  constexpr std::string_view kWhat = "what waited for a host event that was released unsignalled";
  const auto add = [&](std::string_view name, std::function<Status(const Bench&, Event&)> run) {
    add_bench_case(maker, 'Q', fmt::format("unsignalled.{}", name), Level::right,
                   says::kUnsignalled, [run = std::move(run)](const Bench& bench) -> Status {
                     STRIA_ASSIGN(Event event, bench.subject().host_event());
                     return run(bench, event);
                   });
  };
  for (const Op op : kOps)
    add(name_of(op), [op, kWhat](const Bench& bench, Event& event) -> Status {
      STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list_of(event)));
      STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "the event that it waits for is open"));
      event.reset();
      STRIA_RETURN_IF_ERROR(fails_with_code(bench, trial.done(), STRIA_CANCELLED, kWhat));
      return trial.was_not_done();
    });
  add("chain", [kWhat](const Bench& bench, Event& event) -> Status {
    STRIA_ASSIGN(Trial one, Trial::start(bench, Op::fill, list_of(event)));
    STRIA_ASSIGN(Trial two, Trial::start(bench, Op::copy, list_of(one.done())));
    STRIA_ASSIGN(Trial three, Trial::start(bench, Op::map_current, list_of(two.done())));
    event.reset();
    for (Trial* trial : {&three, &two, &one})
      STRIA_RETURN_IF_ERROR(fails_with_code(bench, trial->done(), STRIA_CANCELLED, kWhat));
    for (Trial* trial : {&three, &two, &one}) STRIA_RETURN_IF_ERROR(trial->was_not_done());
    return Status();
  });
  add("twice_in_a_list", [kWhat](const Bench& bench, Event& event) -> Status {
    STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(event, event)));
    event.reset();
    STRIA_RETURN_IF_ERROR(fails_with_code(bench, trial.done(), STRIA_CANCELLED, kWhat));
    return trial.was_not_done();
  });
  add("before_a_failure", [kWhat](const Bench& bench, Event& event) -> Status {
    STRIA_ASSIGN(const Event other, bench.subject().host_event());
    STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(event, other)));
    STRIA_RETURN_IF_ERROR(signal_failure(bench, other, failure_number(1)));
    STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "the first of its two waits is open"));
    event.reset();
    STRIA_RETURN_IF_ERROR(fails_with_code(bench, trial.done(), STRIA_CANCELLED, kWhat));
    return trial.was_not_done();
  });
  add("behind_a_failure", [](const Bench& bench, Event& event) -> Status {
    STRIA_ASSIGN(const Event other, bench.subject().host_event());
    STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(other, event)));
    event.reset();
    STRIA_RETURN_IF_ERROR(bench.stays_open(trial.done(), "the first of its two waits is open"));
    STRIA_RETURN_IF_ERROR(signal_failure(bench, other, failure_number(1)));
    STRIA_RETURN_IF_ERROR(
        fails_with(bench, trial.done(), failure_number(1), "whose first wait failed"));
    return trial.was_not_done();
  });
  add("nobody_waits", [](const Bench& bench, Event&) -> Status {
    for (int i = 0; i < 1000; ++i) {
      STRIA_ASSIGN(const Event event, bench.subject().host_event());
      if (i % 3 == 0) STRIA_RETURN_IF_ERROR(bench.subject().signal(event));
    }
    STRIA_ASSIGN(Trial after, Trial::start(bench, Op::fill));
    return after.was_done();
  });
  // Only what waits for it.
  add("others_go_on", [](const Bench& bench, Event& event) -> Status {
    STRIA_ASSIGN(const Event good, bench.subject().host_event());
    STRIA_ASSIGN(Trial bad, Trial::start(bench, Op::copy, list_of(event)));
    STRIA_ASSIGN(Trial well, Trial::start(bench, Op::copy, list_of(good)));
    event.reset();
    STRIA_RETURN_IF_ERROR(fails_with_code(bench, bad.done(), STRIA_CANCELLED, "its dependant"));
    STRIA_RETURN_IF_ERROR(bench.stays_open(well.done(), "the event that it waits for is open"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(good));
    STRIA_RETURN_IF_ERROR(well.was_done());
    return bad.was_not_done();
  });
}

}  // namespace

void add_event_signal_cases(CaseMaker& maker) {
  add_once_cases(maker);
  add_error_cases(maker);
  add_unsignalled_cases(maker);
}

}  // namespace stria::conformance
