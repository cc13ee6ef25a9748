// SPDX-License-Identifier: Apache-2.0
// Work whose waits fail is not done, and fails with the first cause; what comes after it goes on.
#include "faults/async_work.h"
#include "faults/fault_cases.h"
#include "negotiation/answer.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kSameError =
    "If one failed, the work is not done and its event fails with the same error (that of the "
    "first "
    "failed one in list order), after all waits are over: so a failure travels along the events to "
    "everything that depends on it, and carries its first cause.";
constexpr std::string_view kCancelled =
    "A host event that is released unsignalled fails with STRIA_CANCELLED.";

const Status& torn() {
  static const Status status(StatusCode::data_loss, "tape 17 was torn");
  return status;
}
const Status& burnt() {
  static const Status status(StatusCode::unavailable, "tape 18 was burnt");
  return status;
}

// Whether the event failed as it had to.
Status check_failure(const DeviceWork& work, const Event& event, Slot slot,
                     const Status& expected) {
  STRIA_RETURN_IF_ERROR(work.wait_for_end(event));
  stria_error* error = work.tables().event.status(event.get());
  if (!error)
    return broken("{} behind a wait that failed with '{}' ends well", name_of(slot),
                  expected.message());
  const auto code = static_cast<StatusCode>(error->code);
  const std::string message(hal::view_of(error->message));
  error->release(error);
  if (code != expected.code())
    return broken("{} behind a wait that failed with {} fails with {} ('{}')", name_of(slot),
                  code_text(static_cast<stria_code>(expected.code())),
                  code_text(static_cast<stria_code>(code)), hal::one_line(message));
  if (message.find(expected.message()) == std::string::npos)
    return broken("{} behind a wait that failed with '{}' fails with '{}', another cause",
                  name_of(slot), expected.message(), hal::one_line(message));
  uint64_t time = 1;
  STRIA_RETURN_IF_ERROR(Subject::failure(Slot::event_duration_ns,
                                         work.tables().event.duration_ns(event.get(), &time)));
  if (time != 0) return broken("{} that was not done says that it took {} ns", name_of(slot), time);
  return Status();
}

// How the waits fail; gives the event of the work, which has failed or will, and what with.
struct Way {
  const char* name;
  Status expected;
  Status (*fail)(const DeviceWork& work, AsyncWork& piece, Event& out);
};

Result<std::vector<Event>> host_events(const DeviceWork& work, int count) {
  std::vector<Event> out;
  for (int i = 0; i < count; ++i) {
    STRIA_ASSIGN(Event event, work.host_event());
    out.push_back(std::move(event));
  }
  return out;
}

Result<Event> begin(AsyncWork& piece, const std::vector<Event>& waits) {
  std::vector<stria_event*> list;
  for (const Event& event : waits) list.push_back(event.get());
  return piece.begin(list);
}

const std::vector<Way>& all_ways() {
  static const std::vector<Way> ways = {
      {"failed_before_the_call", torn(),
       [](const DeviceWork& work, AsyncWork& piece, Event& out) -> Status {
         STRIA_ASSIGN(const auto waits, host_events(work, 1));
         STRIA_RETURN_IF_ERROR(work.signal(waits[0], torn()));
         STRIA_ASSIGN(out, begin(piece, waits));
         return Status();
       }},
      {"fails_after_the_call", torn(),
       [](const DeviceWork& work, AsyncWork& piece, Event& out) -> Status {
         STRIA_ASSIGN(const auto waits, host_events(work, 1));
         STRIA_ASSIGN(out, begin(piece, waits));
         return work.signal(waits[0], torn());
       }},
      {"second_of_three_fails", torn(),
       [](const DeviceWork& work, AsyncWork& piece, Event& out) -> Status {
         STRIA_ASSIGN(const auto waits, host_events(work, 3));
         STRIA_ASSIGN(out, begin(piece, waits));
         STRIA_RETURN_IF_ERROR(work.signal(waits[0]));
         STRIA_RETURN_IF_ERROR(work.signal(waits[1], torn()));
         return work.signal(waits[2]);
       }},
      // The first in the list counts, not in time; nothing ends before all waits are over.
      {"both_fail_the_later_one_first", torn(),
       [](const DeviceWork& work, AsyncWork& piece, Event& out) -> Status {
         STRIA_ASSIGN(const auto waits, host_events(work, 2));
         STRIA_ASSIGN(out, begin(piece, waits));
         STRIA_RETURN_IF_ERROR(work.signal(waits[1], burnt()));
         STRIA_ASSIGN(const Executor beside, work.executor());
         STRIA_RETURN_IF_ERROR(
             work.stays_open({&beside, 1}, out, "the first of its two waits is open"));
         return work.signal(waits[0], torn());
       }},
      {"behind_work_that_failed", torn(),
       [](const DeviceWork& work, AsyncWork& piece, Event& out) -> Status {
         STRIA_ASSIGN(const auto waits, host_events(work, 1));
         STRIA_ASSIGN(const Executor executor, work.executor());
         STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
         stria_event* const list[] = {waits[0].get()};
         STRIA_ASSIGN(const Event between, work.fill(executor, buffer, 0, 64, Bytes(1), list));
         stria_event* const behind[] = {between.get()};
         STRIA_ASSIGN(out, piece.begin(behind));
         return work.signal(waits[0], torn());
       }},
  };
  return ways;
}

// Work that fails, and the same work right after it.
Finding fails_and_goes_on(Subject& subject, Slot slot, const Way& way) {
  const DeviceWork work(subject);
  AsyncWork piece;
  const Status made = AsyncWork::make(subject, slot, piece);
  if (made.code() == StatusCode::unsupported) return Finding::skip(made.message());
  STRIA_RETURN_IF_ERROR(made);
  Event event;
  const Status failed = way.fail(work, piece, event);
  if (failed.code() == StatusCode::unimplemented)
    return Finding::skip(fmt::format("the plugin has no {}", name_of(slot)));
  STRIA_RETURN_IF_ERROR(failed);
  STRIA_RETURN_IF_ERROR(check_failure(work, event, slot, way.expected));
  STRIA_RETURN_IF_ERROR(piece.check_not_done(way.expected.code()));
  STRIA_ASSIGN(const Event again, piece.begin({}));
  STRIA_RETURN_IF_ERROR(work.wait(again).with_context("the same work after a failure"));
  return piece.check_done();
}

Finding cancelled(Subject& subject, Slot slot) {
  const DeviceWork work(subject);
  AsyncWork piece;
  const Status made = AsyncWork::make(subject, slot, piece);
  if (made.code() == StatusCode::unsupported) return Finding::skip(made.message());
  STRIA_RETURN_IF_ERROR(made);
  STRIA_ASSIGN(Event open, work.host_event());
  stria_event* const list[] = {open.get()};
  auto event = piece.begin(list);
  if (event.status().code() == StatusCode::unimplemented)
    return Finding::skip(fmt::format("the plugin has no {}", name_of(slot)));
  STRIA_RETURN_IF_ERROR(event.status());
  open.reset();
  const Status status = work.wait(*event);
  if (status.code() != StatusCode::cancelled)
    return broken(
        "{} behind a host event that was released unsignalled ends with '{}', not "
        "STRIA_CANCELLED",
        name_of(slot), status.to_string());
  STRIA_RETURN_IF_ERROR(piece.check_not_done(StatusCode::cancelled));
  STRIA_ASSIGN(const Event again, piece.begin({}));
  STRIA_RETURN_IF_ERROR(work.wait(again).with_context("the same work after a failure"));
  return piece.check_done();
}

}  // namespace

void add_failed_wait_cases(CaseMaker& maker) {
  for (const Slot slot : AsyncWork::slots()) {
    for (const Way& way : all_ways()) {
      Case& c = maker.add(
          'F', fmt::format("failed_wait.{}.{}", name_of(slot), way.name), Level::robust, kSameError,
          [slot, &way](Subject& subject) { return fails_and_goes_on(subject, slot, way); });
      c.limit = std::chrono::seconds(40);
    }
    Case& c = maker.add('F', fmt::format("failed_wait.{}.released_unsignalled", name_of(slot)),
                        Level::robust, kCancelled,
                        [slot](Subject& subject) { return cancelled(subject, slot); });
    c.limit = std::chrono::seconds(40);
  }
  Case& c = maker.add(
      'F', "failed_wait.every_code_travels", Level::robust, kSameError,
      [](Subject& subject) -> Finding {
        const DeviceWork work(subject);
        STRIA_ASSIGN(const Executor executor, work.executor());
        STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
        for (stria_code code = STRIA_INVALID_ARGUMENT; code <= STRIA_INTERNAL; ++code) {
          STRIA_ASSIGN(const Event open, work.host_event());
          stria_event* const waits[] = {open.get()};
          STRIA_ASSIGN(const Event first, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
          stria_event* const behind[] = {first.get()};
          STRIA_ASSIGN(const Event second, work.fill(executor, buffer, 0, 64, Bytes(1), behind));
          const std::string message = fmt::format("a failure of code {}", code);
          stria_error error{};
          error.size = sizeof error;
          error.code = code;
          error.native_code = -code;
          error.message = hal::to_c(message);
          error.release = [](stria_error*) {};
          STRIA_SLOT(subject, event, signal, open.get(), &error);
          STRIA_RETURN_IF_ERROR(work.wait_for_end(second));
          stria_error* got = subject.tables().event.status(second.get());
          if (!got)
            return broken("work behind a wait that failed with {} ends well", code_text(code));
          const stria_code got_code = got->code;
          const int64_t native = got->native_code;
          const std::string text(hal::view_of(got->message));
          got->release(got);
          if (got_code != code || native != -code || text.find(message) == std::string::npos)
            return broken(
                "a failure of code {}, native code {}, '{}' arrives as code {}, native "
                "code {}, '{}'",
                code, -code, message, got_code, native, hal::one_line(text));
        }
        return work_round(work, 1);
      });
  c.limit = std::chrono::seconds(40);
}

}  // namespace stria::conformance
