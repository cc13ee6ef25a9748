// SPDX-License-Identifier: Apache-2.0
#include "memory/release_cases.h"

#include <algorithm>
#include <cstring>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "memory/sentences.h"
#include "stria/hal/boundary/info.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 3000;

// Buffers of the same size as ones that were just released, all written: memory that was given out
// too early is overwritten by them.
Result<std::vector<Buffer>> newcomers(const Bench& bench, uint64_t bytes) {
  std::vector<Buffer> out;
  for (unsigned i = 0; i < 6; ++i) {
    STRIA_ASSIGN(Buffer buffer, bench.buffer(bytes_of(bytes, 0xe0 + i)));
    out.push_back(std::move(buffer));
  }
  return out;
}

Status unharmed(const Bench& bench, const std::vector<Buffer>& newcomers, uint64_t bytes) {
  for (unsigned i = 0; i < newcomers.size(); ++i)
    STRIA_RETURN_IF_ERROR(bench.holds(newcomers[i], bytes_of(bytes, 0xe0 + i),
                                      "a buffer that was allocated after a release"));
  return Status();
}

// Adds a case that gets an event for work to wait for.
void add(CaseMaker& maker, std::string_view name,
         std::function<Status(const Bench&, const Event& gate)> run) {
  add_bench_case(maker, 'M', fmt::format("release.{}", name), Level::right, says::kReleaseInFlight,
                 [run = std::move(run)](const Bench& bench) -> Status {
                   STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                   return run(bench, gate);
                 });
}

void add_buffer_cases(CaseMaker& maker) {
  add(maker, "target_of_a_fill", [](const Bench& bench, const Event& gate) -> Status {
    STRIA_ASSIGN(Buffer target, bench.buffer(Bytes(kBytes)));
    STRIA_ASSIGN(const Event filled, bench.fill(target, kBytes, 7, list_of(gate)));
    target.reset();
    STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
    STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "the event that it waits for is open"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(filled));
    return unharmed(bench, others, kBytes);
  });
  add(maker, "source_of_a_copy", [](const Bench& bench, const Event& gate) -> Status {
    const Bytes contents = pattern(kBytes, 100);
    STRIA_ASSIGN(Buffer source, bench.buffer(contents));
    STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(kBytes)));
    STRIA_ASSIGN(const Event copied, bench.copy(source, 0, target, 0, kBytes, list_of(gate)));
    source.reset();
    STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(copied));
    STRIA_RETURN_IF_ERROR(bench.holds(target, contents, "a copy whose source was released"));
    return unharmed(bench, others, kBytes);
  });
  add(maker, "target_of_a_copy", [](const Bench& bench, const Event& gate) -> Status {
    STRIA_ASSIGN(const Buffer source, bench.buffer(pattern(kBytes, 101)));
    STRIA_ASSIGN(Buffer target, bench.buffer(Bytes(kBytes)));
    STRIA_ASSIGN(const Event copied, bench.copy(source, 0, target, 0, kBytes, list_of(gate)));
    target.reset();
    STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(copied));
    return unharmed(bench, others, kBytes);
  });
  // The buffer in the middle has no handle when its bytes pass through it.
  add(maker, "middle_of_a_chain", [](const Bench& bench, const Event& gate) -> Status {
    const Bytes contents = pattern(kBytes, 102);
    STRIA_ASSIGN(Buffer source, bench.buffer(contents));
    STRIA_ASSIGN(Buffer middle, bench.buffer(Bytes(kBytes)));
    STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(kBytes)));
    STRIA_ASSIGN(const Event one, bench.copy(source, 0, middle, 0, kBytes, list_of(gate)));
    STRIA_ASSIGN(const Event two, bench.copy(middle, 0, target, 0, kBytes, list_of(one)));
    source.reset();
    middle.reset();
    STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(two));
    STRIA_RETURN_IF_ERROR(bench.holds(target, contents, "what came through a released buffer"));
    return unharmed(bench, others, kBytes);
  });
  add(maker, "buffer_at_once_after_a_fill", [](const Bench& bench, const Event&) -> Status {
    std::vector<Event> events;
    for (unsigned i = 0; i < 50; ++i) {
      STRIA_ASSIGN(Buffer buffer, bench.subject().allocate(kBytes));
      STRIA_ASSIGN(Event filled, bench.fill(buffer, kBytes, i));
      events.push_back(std::move(filled));
    }
    STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
    for (const Event& event : events) STRIA_RETURN_IF_ERROR(bench.finish(event));
    return unharmed(bench, others, kBytes);
  });
  for (const MapMode mode : kMapModes)
    add(maker, fmt::format("buffer_during_unmap_{}", name_of(mode)),
        [mode](const Bench& bench, const Event&) -> Status {
          std::vector<Event> ends;
          for (uint32_t i = 0; i < 20; ++i) {
            STRIA_ASSIGN(const Buffer buffer, bench.buffer(pattern(kBytes, 103)));
            STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 0, kBytes));
            if (mode != MapMode::read) mapped.write(pattern(kBytes, 104 + i));
            STRIA_ASSIGN(Event ended, mapped.unmap());
            ends.push_back(std::move(ended));
          }
          STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
          for (const Event& event : ends) STRIA_RETURN_IF_ERROR(bench.finish(event));
          return unharmed(bench, others, kBytes);
        });
  // What does not come to be done lets go of its buffers all the same.
  add(maker, "buffers_of_work_that_fails", [](const Bench& bench, const Event& gate) -> Status {
    const Bytes contents = pattern(kBytes, 105);
    STRIA_ASSIGN(Buffer source, bench.buffer(contents));
    STRIA_ASSIGN(const Buffer target, bench.buffer(contents));
    STRIA_ASSIGN(const Event copied, bench.copy(source, 0, target, 1, 5, list_of(gate)));
    source.reset();
    STRIA_RETURN_IF_ERROR(
        bench.subject().signal(gate, Status(StatusCode::data_loss, "as the suite asks")));
    STRIA_RETURN_IF_ERROR(bench.flush());
    if (bench.finish(copied).code() != StatusCode::data_loss)
      return broken("a copy whose wait failed does not fail with that error");
    return bench.holds(target, contents, "the target of a copy that was not done");
  });
}

void add_other_cases(CaseMaker& maker) {
  const auto chain = [](const Bench& bench, const Event& gate, const Buffer& buffer,
                        std::vector<Event>& events) -> Status {
    STRIA_ASSIGN(Event one, bench.fill(buffer, kBytes, 1, list_of(gate)));
    STRIA_ASSIGN(Event two, bench.fill(buffer, kBytes, 2, list_of(one)));
    STRIA_ASSIGN(Event three, bench.fill(buffer, 10, 5, bytes_of(1, 3), list_of(two)));
    events.push_back(std::move(one));
    events.push_back(std::move(two));
    events.push_back(std::move(three));
    return bench.flush();
  };
  Bytes after = bytes_of(kBytes, 2);
  std::fill_n(after.begin() + 10, 5, std::byte{3});
  add(maker, "events_of_a_chain", [chain, after](const Bench& bench, const Event& gate) -> Status {
    STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
    std::vector<Event> events;
    STRIA_RETURN_IF_ERROR(chain(bench, gate, buffer, events));
    events[0].reset();
    events[1].reset();
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(events[2]));
    return bench.holds(buffer, after, "a chain whose first events were released");
  });
  add(maker, "all_events", [chain, after](const Bench& bench, const Event& gate) -> Status {
    STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
    std::vector<Event> events;
    STRIA_RETURN_IF_ERROR(chain(bench, gate, buffer, events));
    events.clear();
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_SLOT(bench.subject(), executor, drain, bench.executor().get(), 5'000'000'000);
    return bench.holds(buffer, after, "a chain whose events were all released");
  });
  maker.add('M', "release.executor", Level::right, says::kReleaseInFlight,
            [chain, after](Subject& subject) -> Finding {
              STRIA_ASSIGN(Bench bench, Bench::make(subject));
              STRIA_ASSIGN(const Event gate, subject.host_event());
              STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
              std::vector<Event> events;
              STRIA_RETURN_IF_ERROR(chain(bench, gate, buffer, events));
              bench.release_executor(0);
              STRIA_RETURN_IF_ERROR(subject.signal(gate));
              STRIA_RETURN_IF_ERROR(subject.wait(events[2]));
              return bench.holds(buffer, after, "a chain whose executor was released");
            });
  maker.add('M', "release.all_but_the_last_event", Level::right, says::kReleaseInFlight,
            [chain](Subject& subject) -> Finding {
              STRIA_ASSIGN(Bench bench, Bench::make(subject));
              STRIA_ASSIGN(const Event gate, subject.host_event());
              std::vector<Event> events;
              {
                STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
                STRIA_RETURN_IF_ERROR(chain(bench, gate, buffer, events));
              }
              bench.release_executor(0);
              events[0].reset();
              events[1].reset();
              STRIA_RETURN_IF_ERROR(subject.signal(gate));
              return subject.wait(events[2]);
            });
  add(maker, "everything_before_the_signal",
      [chain](const Bench& bench, const Event& gate) -> Status {
        {
          STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(kBytes)));
          std::vector<Event> events;
          STRIA_RETURN_IF_ERROR(chain(bench, gate, buffer, events));
        }
        STRIA_ASSIGN(const std::vector<Buffer> others, newcomers(bench, kBytes));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        STRIA_SLOT(bench.subject(), executor, drain, bench.executor().get(), 5'000'000'000);
        return unharmed(bench, others, kBytes);
      });
}

// ---- what a slot is given stays as it is

void add_input_cases(CaseMaker& maker) {
  const auto add_input = [&](std::string_view name, std::function<Status(const Bench&)> run) {
    add_bench_case(maker, 'M', fmt::format("inputs.{}", name), Level::right, says::kCallOnly,
                   std::move(run));
  };
  // A list of waits may be overwritten as soon as the call is back; and is not by the plugin.
  add_input("list_of_waits", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
    STRIA_ASSIGN(const Event open, bench.subject().host_event());
    STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
    EventList waits = list_of(gate, open, gate);
    const EventList before = waits;
    STRIA_ASSIGN(const Event filled, bench.fill(buffer, 64, 1, waits));
    STRIA_ASSIGN(Mapped mapped, Mapped::make(bench, MapMode::current, buffer, 0, 64, waits));
    if (waits != before) return broken("a slot changed the list of events that it was given");
    std::fill(waits.begin(), waits.end(), nullptr);
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "the second of three waits is open"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(open));
    STRIA_RETURN_IF_ERROR(bench.finish(filled));
    STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
    return mapped.end();
  });
  add_input("pattern", [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Buffer buffer, bench.buffer(Bytes(64)));
    for (const uint64_t size : {1, 2, 4, 8, 16}) {
      Bytes room = pattern(48, 110);
      const Bytes before = room;
      STRIA_RETURN_IF_ERROR(
          bench.finish(bench.fill(buffer, 0, 64, std::span(room).subspan(16, size))));
      if (room != before) return broken("executor.fill changed the pattern that it was given");
    }
    return Status();
  });
  add_input("buffer_params", [](const Bench& bench) -> Status {
    const Subject& subject = bench.subject();
    std::string name;  // of memory; overwritten after the call
    stria_buffer_params params{};
    params.size = sizeof params;
    params.bytes = 100;
    params.memory = hal::to_c(name);
    const stria_buffer_params before = params;
    stria_buffer* made = nullptr;
    STRIA_SLOT(subject, device, allocate, subject.device(), &params, &made);
    const Buffer buffer(made, subject.tables().buffer.release);
    if (std::memcmp(&params, &before, sizeof params) != 0)
      return broken("device.allocate changed the struct that it was given");
    std::memset(static_cast<void*>(&params), 0xff, sizeof params);
    const Bytes contents = pattern(100, 111);
    STRIA_RETURN_IF_ERROR(subject.write(buffer, 0, contents));
    return bench.holds(buffer, contents, "a buffer whose parameters were overwritten");
  });
  add_input("source_of_many_copies", [](const Bench& bench) -> Status {
    const Bytes contents = pattern(1000, 112);
    STRIA_ASSIGN(const Buffer source, bench.buffer(contents));
    STRIA_ASSIGN(const Buffer target, bench.buffer(Bytes(1000)));
    for (uint64_t i = 0; i < 30; ++i)
      STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(source, i, target, 2 * i, 900)));
    return bench.holds(source, contents, "the source of thirty copies");
  });
}

}  // namespace

void add_memory_release_cases(CaseMaker& maker) {
  add_buffer_cases(maker);
  add_other_cases(maker);
  add_input_cases(maker);
}

}  // namespace stria::conformance
