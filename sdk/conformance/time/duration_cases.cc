// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "model/kind_files.h"
#include "stria/hal/boundary/error.h"
#include "suite/device_work.h"
#include "suite/subject.h"
#include "time/time_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kDuration =
    "Nanoseconds from the start to the end of the work itself, without waiting.";
constexpr std::string_view kZero =
    "0 for work that was not done, for host events, and where it is not known; that of a batch is "
    "known if that of all its launches is.";
constexpr std::string_view kOpen = "STRIA_FAILED_PRECONDITION while it is open.";

// A device's clock and the host's may differ by a little.
constexpr uint64_t kClockSlackNs = 2'000'000;

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

Result<uint64_t> duration(const Subject& s, const Event& event) {
  uint64_t ns = UINT64_MAX;
  STRIA_SLOT(s, event, duration_ns, event.get(), &ns);
  if (ns == UINT64_MAX) return broken("event.duration_ns succeeded and wrote nothing");
  return ns;
}

// Of all of them together.
Result<uint64_t> durations(const Subject& s, const std::vector<Event>& events) {
  uint64_t sum = 0;
  for (const Event& event : events) {
    STRIA_ASSIGN(const uint64_t ns, duration(s, event));
    sum += ns;
  }
  return sum;
}

// Work that takes some time. It is handed to the device at once: else it may wait for company.
struct Work {
  const char* name;
  std::function<Result<Event>(const Subject&, const Executor&, const Buffer&, const Buffer&,
                              uint64_t, std::span<stria_event* const>)>
      begin;
};

const std::vector<Work>& works() {
  static const std::vector<Work> all = {
      {"fill",
       [](const Subject& s, const Executor& on, const Buffer& a, const Buffer&, uint64_t bytes,
          std::span<stria_event* const> waits) -> Result<Event> {
         const std::byte seven{7};
         return DeviceWork(s).fill(on, a, 0, bytes, {&seven, 1}, waits);
       }},
      {"copy",
       [](const Subject& s, const Executor& on, const Buffer& a, const Buffer& b, uint64_t bytes,
          std::span<stria_event* const> waits) -> Result<Event> {
         return DeviceWork(s).copy(on, a, 0, b, 0, bytes, waits);
       }},
  };
  return all;
}

// The duration is no longer than the host has waited, and the same when asked again.
Finding within_the_span(Subject& s, const Work& work, uint64_t bytes) {
  STRIA_ASSIGN(const Executor executor, s.make_executor());
  STRIA_ASSIGN(const Buffer a, s.allocate(bytes));
  STRIA_ASSIGN(const Buffer b, s.allocate(bytes));
  const uint64_t begin = now_ns();
  STRIA_ASSIGN(const Event done, work.begin(s, executor, a, b, bytes, {}));
  STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(done));
  const uint64_t span = now_ns() - begin;
  STRIA_ASSIGN(const uint64_t ns, duration(s, done));
  if (ns > span + kClockSlackNs)
    return broken("the {} of {} bytes says that it took {} ns; from its call to its end went {} ns",
                  work.name, bytes, ns, span);
  STRIA_ASSIGN(const uint64_t again, duration(s, done));
  if (again != ns) return broken("the duration was {} ns, asked again {} ns", ns, again);
  return {};
}

// What waits is not counted.
Finding without_waiting(Subject& s, const Work& work, uint64_t bytes) {
  STRIA_ASSIGN(const Executor executor, s.make_executor());
  STRIA_ASSIGN(const Buffer a, s.allocate(bytes));
  STRIA_ASSIGN(const Buffer b, s.allocate(bytes));
  STRIA_ASSIGN(const Event gate, s.host_event());
  stria_event* const waits[] = {gate.get()};
  STRIA_ASSIGN(const Event done, work.begin(s, executor, a, b, bytes, waits));
  constexpr uint64_t kHeldNs = 200'000'000;
  const uint64_t held = now_ns();
  while (now_ns() - held < kHeldNs) STRIA_RETURN_IF_ERROR(s.is_done(done).status());
  STRIA_RETURN_IF_ERROR(s.signal(gate));
  const uint64_t begin = now_ns();
  STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(done));
  const uint64_t span = now_ns() - begin;
  STRIA_ASSIGN(const uint64_t ns, duration(s, done));
  if (ns > span + kHeldNs / 2)
    return broken("the {} waited for {} ns and then took at most {} ns; it says {} ns", work.name,
                  kHeldNs, span, ns);
  return {};
}

// Works in a row: together no longer than the host has waited.
Finding in_a_row(Subject& s, const Work& work, int count) {
  constexpr uint64_t kBytes = 1 << 20;
  STRIA_ASSIGN(const Executor executor, s.make_executor());
  STRIA_ASSIGN(const Buffer a, s.allocate(kBytes));
  STRIA_ASSIGN(const Buffer b, s.allocate(kBytes));
  std::vector<Event> events;
  const uint64_t begin = now_ns();
  for (int i = 0; i < count; ++i) {
    stria_event* last = events.empty() ? nullptr : events.back().get();
    STRIA_ASSIGN(Event done, work.begin(s, executor, a, b, kBytes,
                                        last ? std::span<stria_event* const>(&last, 1)
                                             : std::span<stria_event* const>()));
    events.push_back(std::move(done));
  }
  STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(events.back()));
  const uint64_t span = now_ns() - begin;
  STRIA_ASSIGN(const uint64_t sum, durations(s, events));
  if (sum > span + kClockSlackNs)
    return broken(
        "{} works that wait for each other took {} ns together, and the host waited {} ns", count,
        sum, span);
  return {};
}

// Large works in a row: most of the time that goes by is theirs. In the best of some tries, for a
// machine may be busy meanwhile.
Finding is_not_a_fraction(Subject& s, const Work& work) {
  STRIA_ASSIGN(const auto model, reported_model(s, s.device_info().kind));
  if (model && model->simulated) return Finding::skip("times are those of a simulated machine");
  constexpr uint64_t kBytes = 16 << 20;
  constexpr int kWorks = 16, kTries = 4;
  constexpr double kLeastPart = 0.1;
  constexpr uint64_t kLeastNs = 5'000'000;  // of all works; else it is the calls that take the time
  STRIA_ASSIGN(const Executor executor, s.make_executor());
  STRIA_ASSIGN(const Buffer a, s.allocate(kBytes));
  STRIA_ASSIGN(const Buffer b, s.allocate(kBytes));
  double most = 0;
  uint64_t of_sum = 0, of_span = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<Event> events;
    STRIA_ASSIGN(const Event gate, s.host_event());
    stria_event* last = gate.get();
    for (int i = 0; i < kWorks; ++i) {
      STRIA_ASSIGN(Event done, work.begin(s, executor, a, b, kBytes, {&last, 1}));
      events.push_back(std::move(done));
      last = events.back().get();
    }
    const uint64_t begin = now_ns();
    STRIA_RETURN_IF_ERROR(s.signal(gate));
    STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(events.back()));
    const uint64_t span = now_ns() - begin;
    STRIA_ASSIGN(const uint64_t sum, durations(s, events));
    if (sum == 0) return Finding::skip(fmt::format("how long a {} takes is not known", work.name));
    const double part = static_cast<double>(sum) / static_cast<double>(span);
    if (part < most) continue;
    most = part, of_sum = sum, of_span = span;
  }
  if (of_span < kLeastNs) return Finding::skip("the device is too fast for the host's clock");
  if (most < kLeastPart)
    return broken("{} works of {} bytes say that they took {} ns together, of {} ns that went by",
                  kWorks, kBytes, of_sum, of_span);
  return {};
}

Finding is_refused_while_open(Subject& s, const Event& open) {
  uint64_t ns = 12345;
  stria_error* error = s.tables().event.duration_ns(open.get(), &ns);
  if (!error) return broken("event.duration_ns of an open event gives {} ns", ns);
  const Status status = hal::take_error(error);
  if (status.code() != StatusCode::failed_precondition)
    return broken("event.duration_ns of an open event fails with: {}", status.to_string());
  if (ns != 12345)
    return broken_rule(Rule::no_output, "event.duration_ns failed and has written {}", ns);
  return {};
}

void add_of_open_and_failed(CaseMaker& maker) {
  maker.add('R', "duration.host_event.open", Level::right, kOpen, [](Subject& s) -> Finding {
    STRIA_ASSIGN(const Event event, s.host_event());
    return is_refused_while_open(s, event);
  });
  maker.add('R', "duration.host_event.done", Level::right, kZero, [](Subject& s) -> Finding {
    STRIA_ASSIGN(const Event event, s.host_event());
    STRIA_RETURN_IF_ERROR(s.signal(event));
    STRIA_ASSIGN(const uint64_t ns, duration(s, event));
    if (ns != 0) return broken("a host event says that it took {} ns", ns);
    return {};
  });
  maker.add('R', "duration.host_event.failed", Level::right, kZero, [](Subject& s) -> Finding {
    STRIA_ASSIGN(const Event event, s.host_event());
    STRIA_RETURN_IF_ERROR(s.signal(event, make_error(StatusCode::data_loss, "torn")));
    STRIA_ASSIGN(const uint64_t ns, duration(s, event));
    if (ns != 0) return broken("a host event that failed says that it took {} ns", ns);
    return {};
  });
  for (const Work& work : works()) {
    maker.add('R', fmt::format("duration.{}.open", work.name), Level::right, kOpen,
              [&work](Subject& s) -> Finding {
                STRIA_ASSIGN(const Executor executor, s.make_executor());
                STRIA_ASSIGN(const Buffer a, s.allocate(64));
                STRIA_ASSIGN(const Buffer b, s.allocate(64));
                STRIA_ASSIGN(const Event gate, s.host_event());
                stria_event* const waits[] = {gate.get()};
                STRIA_ASSIGN(const Event done, work.begin(s, executor, a, b, 64, waits));
                Finding finding = is_refused_while_open(s, done);
                STRIA_RETURN_IF_ERROR(s.signal(gate));
                STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(done));
                return finding;
              });
    maker.add('R', fmt::format("duration.{}.failed", work.name), Level::right, kZero,
              [&work](Subject& s) -> Finding {
                STRIA_ASSIGN(const Executor executor, s.make_executor());
                STRIA_ASSIGN(const Buffer a, s.allocate(64));
                STRIA_ASSIGN(const Buffer b, s.allocate(64));
                STRIA_ASSIGN(const Event gate, s.host_event());
                stria_event* const waits[] = {gate.get()};
                STRIA_ASSIGN(const Event done, work.begin(s, executor, a, b, 64, waits));
                STRIA_RETURN_IF_ERROR(s.signal(gate, make_error(StatusCode::data_loss, "torn")));
                if (DeviceWork(s).wait(done).ok()) return broken("the {} did not fail", work.name);
                STRIA_ASSIGN(const uint64_t ns, duration(s, done));
                if (ns != 0) return broken("a {} that was not done took {} ns", work.name, ns);
                return {};
              });
  }
}

}  // namespace

void add_duration_cases(CaseMaker& maker) {
  const size_t first = maker.out.size();
  add_of_open_and_failed(maker);
  for (const Work& work : works()) {
    for (const uint64_t bytes :
         {uint64_t{1}, uint64_t{64}, uint64_t{4096}, uint64_t{1} << 20, uint64_t{16} << 20})
      maker.add('R', fmt::format("duration.{}.within_the_span.{}", work.name, bytes), Level::right,
                kDuration, [&work, bytes](Subject& s) { return within_the_span(s, work, bytes); });
    for (const uint64_t bytes : {uint64_t{64}, uint64_t{1} << 20})
      maker.add('R', fmt::format("duration.{}.without_waiting.{}", work.name, bytes), Level::robust,
                kDuration, [&work, bytes](Subject& s) { return without_waiting(s, work, bytes); });
    maker.add('R', fmt::format("duration.{}.not_a_fraction", work.name), Level::honest, kDuration,
              [&work](Subject& s) { return is_not_a_fraction(s, work); });
    for (const int count : {2, 8, 32})
      maker.add('R', fmt::format("duration.{}.in_a_row.{}", work.name, count), Level::right,
                kDuration, [&work, count](Subject& s) { return in_a_row(s, work, count); });
  }
  // A device may be slow, and the machine busy.
  for (size_t i = first; i < maker.out.size(); ++i) maker.out[i].limit = std::chrono::seconds(60);
}

}  // namespace stria::conformance
