// SPDX-License-Identifier: Apache-2.0
#include "events/executor_cases.h"

#include <algorithm>

#include "events/sentences.h"
#include "events/trial.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kStream = "An executor is one stream of work;";

void add_count_cases(CaseMaker& maker) {
  for (const size_t count : {2, 5, 16, 50}) {
    add_bench_case(
        maker, 'Q', fmt::format("executors.{}_each_with_work", count), Level::robust, kStream,
        [](const Bench& bench) -> Status {
          std::vector<Trial> trials;
          for (size_t i = 0; i < 2 * bench.executors(); ++i) {
            STRIA_ASSIGN(Trial trial, Trial::start(bench, i % 3 == 0 ? Op::copy : Op::fill, {},
                                                   i % bench.executors()));
            trials.push_back(std::move(trial));
          }
          for (Trial& trial : trials) STRIA_RETURN_IF_ERROR(trial.was_done());
          return Status();
        },
        count);
    // Blocked in one after the other, let go in another order.
    add_bench_case(
        maker, 'Q', fmt::format("executors.{}_blocked", count), Level::robust,
        says::kEventsAloneOrder,
        [](const Bench& bench) -> Status {
          std::vector<Event> gates;
          std::vector<Trial> trials;
          for (size_t i = 0; i < bench.executors(); ++i) {
            STRIA_ASSIGN(Event gate, bench.subject().host_event());
            gates.push_back(std::move(gate));
            STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill, list_of(gates.back()), i));
            trials.push_back(std::move(trial));
          }
          for (size_t n = trials.size(); n-- > 0;) {
            STRIA_RETURN_IF_ERROR(bench.subject().signal(gates[n]));
            STRIA_RETURN_IF_ERROR(trials[n].was_done().with_context(
                fmt::format("executor {}, while those before it are blocked", n)));
          }
          return Status();
        },
        count);
  }
}

void add_life_cases(CaseMaker& maker) {
  maker.add('Q', "executors.idle_ones_go", Level::right, kStream, [](Subject& subject) -> Finding {
    for (int i = 0; i < 100; ++i) {
      STRIA_ASSIGN(const Executor executor, subject.make_executor());
      (void)executor;
    }
    STRIA_ASSIGN(const Bench bench, Bench::make(subject));
    STRIA_ASSIGN(Trial trial, Trial::start(bench, Op::fill));
    return trial.was_done();
  });
  maker.add('Q', "executors.come_and_go_with_work", Level::right, says::kHandleInFlight,
            [](Subject& subject) -> Finding {
              STRIA_ASSIGN(const Bench first, Bench::make(subject));
              STRIA_ASSIGN(const Buffer buffer, first.buffer(Bytes(64)));
              Event last;
              for (unsigned i = 0; i < 40; ++i) {
                STRIA_ASSIGN(const Bench bench, Bench::make(subject));
                STRIA_ASSIGN(last, bench.fill(buffer, 64, i, last ? list_of(last) : EventList()));
                STRIA_RETURN_IF_ERROR(bench.flush());
              }
              STRIA_RETURN_IF_ERROR(subject.wait(last));
              return first.holds(buffer, bytes_of(64, 39), "what forty executors filled in turn");
            });
  // Its successor waits for it, from another executor.
  maker.add('Q', "executors.goes_before_its_dependant", Level::robust, says::kHandleInFlight,
            [](Subject& subject) -> Finding {
              STRIA_ASSIGN(Bench bench, Bench::make(subject, 2));
              STRIA_ASSIGN(const Event gate, subject.host_event());
              STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
              STRIA_ASSIGN(const Event one, bench.fill(buffer, 64, 1, list_of(gate), 0));
              STRIA_ASSIGN(const Event two,
                           bench.fill(buffer, 0, 32, bytes_of(1, 2), list_of(one), 1));
              STRIA_RETURN_IF_ERROR(bench.flush());
              bench.release_executor(0);
              STRIA_RETURN_IF_ERROR(subject.signal(gate));
              STRIA_RETURN_IF_ERROR(subject.wait(two));
              Bytes expected = bytes_of(64, 1);
              std::fill_n(expected.begin(), 32, std::byte{2});
              return bench.holds(buffer, expected, "the buffer after both executors' work");
            });
  // A failure crosses from one to the other; work that has nothing to do with it goes on.
  add_bench_case(
      maker, 'Q', "executors.failure_crosses", Level::robust, says::kFirstCause,
      [](const Bench& bench) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(Trial one, Trial::start(bench, Op::fill, list_of(gate), 0));
        STRIA_ASSIGN(Trial two, Trial::start(bench, Op::copy, list_of(one.done()), 1));
        STRIA_ASSIGN(Trial three, Trial::start(bench, Op::fill, list_of(two.done()), 2));
        STRIA_ASSIGN(Trial other, Trial::start(bench, Op::fill, {}, 1));
        STRIA_RETURN_IF_ERROR(signal_failure(bench, gate, failure_number(110)));
        for (Trial* trial : {&three, &two, &one})
          STRIA_RETURN_IF_ERROR(
              fails_with(bench, trial->done(), failure_number(110), "work of another executor"));
        for (Trial* trial : {&three, &two, &one}) STRIA_RETURN_IF_ERROR(trial->was_not_done());
        return other.was_done();
      },
      3);
}

}  // namespace

void add_event_executor_cases(CaseMaker& maker) {
  add_count_cases(maker);
  add_life_cases(maker);
}

}  // namespace stria::conformance
