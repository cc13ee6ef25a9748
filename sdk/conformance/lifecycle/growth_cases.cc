// SPDX-License-Identifier: Apache-2.0
// The same again and again, what fails too: threads, descriptors and memory do not grow.
#include "lifecycle/growth_cases.h"

#include <unistd.h>

#include "suite/device_work.h"
#include "suite/memory_in_use.h"
#include "suite/process_facts.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kHandles =
    "Handles that a slot makes belong to the caller, who gives them back through the noun's "
    "`release`.";

Case& add(CaseMaker& maker, std::string_view name, Level level,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, level, kHandles, std::move(run));
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

// So many bytes of each round are no list that grows now and then.
constexpr uint64_t kLeastLeak = 48;

// `round` so many times; no threads, descriptors or allocations of the host's may be more after the
// second half than after the first. Of many rounds each may leave nothing on the heap.
Finding does_not_grow(Subject& subject, int times, const std::function<Status()>& round) {
  const auto rounds = [&](int count) -> Status {
    for (int i = 0; i < count; ++i) STRIA_RETURN_IF_ERROR(round());
    return Status();
  };
  STRIA_RETURN_IF_ERROR(rounds(times / 2));
  const int threads = thread_count(), descriptors = descriptor_count();
  const int64_t allocations = subject.host().allocations_held();
  // A leak grows in each of four parts of the second half; malloc's own lists do not.
  const int part = std::max(1, times / 8);
  uint64_t least = UINT64_MAX, heap = heap_bytes();
  for (int i = 0; i < 4; ++i) {
    STRIA_RETURN_IF_ERROR(rounds(part));
    const uint64_t now = heap_bytes();
    least = std::min(least, now > heap ? now - heap : 0);
    heap = now;
  }
  // Threads that are ending may still be there for a moment.
  const auto is_more = [&] {
    return thread_count() > threads || descriptor_count() > descriptors ||
           subject.host().allocations_held() > allocations;
  };
  for (int i = 0; i < 2000 && is_more(); ++i) ::usleep(1000);
  if (is_more())
    return Finding::leak(fmt::format(
        "after {} rounds there were {} threads, {} descriptors and {} allocations of the host's; "
        "after {} rounds {}, {} and {}",
        times / 2, threads, descriptors, allocations, times, thread_count(), descriptor_count(),
        subject.host().allocations_held()));
  constexpr int kManyTimes = 100;
  if (times >= kManyTimes && least / static_cast<uint64_t>(part) >= kLeastLeak)
    return Finding::leak(fmt::format("each of {} rounds leaves {} bytes of the heap allocated",
                                     times, least / static_cast<uint64_t>(part)));
  return {};
}

void add_many_cases(CaseMaker& maker) {
  for (const int times : {10, 1000})
    add(maker, fmt::format("open.and_close_{}_times", times),
        times > 10 ? Level::robust : Level::right,
        [times](Subject& subject) {
          return does_not_grow(subject, times, [&]() -> Status {
            return subject.open_device(subject.driver(), subject.device_info().id).status();
          });
        })
        .limit = std::chrono::seconds(120);
  add(maker, "open.and_work_20_times", Level::robust, [](Subject& subject) {
    uint32_t round = 0;
    return does_not_grow(subject, 20, [&]() -> Status {
      STRIA_ASSIGN(const Device device,
                   subject.open_device(subject.driver(), subject.device_info().id));
      return work_round(DeviceWork(subject.tables(), device.get()), ++round);
    });
  });
  add(maker, "open.and_run_10_times", Level::robust, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    uint32_t round = 0;
    return does_not_grow(subject, 10, [&]() -> Status {
      STRIA_ASSIGN(const Device device,
                   subject.open_device(subject.driver(), subject.device_info().id));
      return program_round(DeviceWork(subject.tables(), device.get()), program, ++round);
    });
  }).limit = std::chrono::seconds(120);
  add(maker, "driver.and_shutdown_100_times", Level::robust, [](Subject& subject) {
    return does_not_grow(subject, 100, [&]() -> Status {
      TestHost host;
      STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
      return subject.list(driver.get()).status();
    });
  });

  struct Noun {
    const char* name;
    int times;
    Status (*round)(const DeviceWork& work);
  };
  static const Noun nouns[] = {
      {"executors", 1000, [](const DeviceWork& work) { return work.executor().status(); }},
      {"compilers", 1000, [](const DeviceWork& work) { return work.compiler().status(); }},
      {"host_events", 10'000, [](const DeviceWork& work) { return work.host_event().status(); }},
      {"buffers", 1000, [](const DeviceWork& work) { return work.allocate(4096).status(); }},
      {"empty_buffers", 1000, [](const DeviceWork& work) { return work.allocate(0).status(); }},
      {"mappings", 1000,
       [](const DeviceWork& work) -> Status {
         STRIA_ASSIGN(const Buffer buffer, work.allocate(256));
         return work.write(buffer, 0, Bytes(256));
       }},
      {"executors_that_worked", 200,
       [](const DeviceWork& work) -> Status {
         STRIA_ASSIGN(const Executor executor, work.executor());
         STRIA_ASSIGN(const Buffer buffer, work.allocate(256));
         STRIA_ASSIGN(const Event done, work.fill(executor, buffer, 0, 256, Bytes(4)));
         return work.wait(done);
       }},
  };
  for (const Noun& noun : nouns)
    add(maker, fmt::format("many.{}", noun.name), Level::robust, [&noun](Subject& subject) {
      const DeviceWork work(subject);
      return does_not_grow(subject, noun.times, [&] { return noun.round(work); });
    });
  add(maker, "many.alive_at_once", Level::robust, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    {
      std::vector<Executor> executors;
      std::vector<Buffer> buffers;
      std::vector<Compiler> compilers;
      std::vector<Event> events;
      for (int i = 0; i < 100; ++i) {
        STRIA_ASSIGN(Executor executor, work.executor());
        executors.push_back(std::move(executor));
        STRIA_ASSIGN(Buffer buffer, work.buffer(pattern(64, static_cast<uint32_t>(i))));
        buffers.push_back(std::move(buffer));
        STRIA_ASSIGN(Compiler compiler, work.compiler());
        compilers.push_back(std::move(compiler));
        STRIA_ASSIGN(Event event, work.host_event());
        events.push_back(std::move(event));
      }
      // One link of a chain on each executor.
      std::vector<Event> done;
      for (size_t i = 0; i + 1 < buffers.size(); ++i) {
        stria_event* const waits[] = {i == 0 ? events[0].get() : done.back().get()};
        STRIA_ASSIGN(Event copied,
                     work.copy(executors[i], buffers[i], 0, buffers[i + 1], 0, 64, waits));
        done.push_back(std::move(copied));
      }
      STRIA_RETURN_IF_ERROR(work.signal(events[0]));
      STRIA_RETURN_IF_ERROR(work.wait(done.back()));
      STRIA_RETURN_IF_ERROR(
          work.holds(buffers.back(), pattern(64, 0), "the end of a chain over 99 executors"));
    }
    return work_round(work, 9);
  });
}

// ---- what is refused, or fails

// No slot keeps anything of a call that it has refused.
Status is_refused(const Status& status, std::string_view what) {
  if (status.ok()) return broken("{} succeeds", what);
  return Status();
}

// A build of text that is no Stripe, or of Stripe that breaks off, waited for.
Status refused_build(const DeviceWork& work, std::string_view text) {
  Result<SmallBuild> build = begin_build(work, text);
  if (!build.ok()) return Status();
  return is_refused(work.wait(build->done), "the build of such a text");
}

// A copy that waits for an event that fails.
Status failed_copy(const DeviceWork& work, const Executor& executor, const Buffer& buffer) {
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event copied, work.copy(executor, buffer, 0, buffer, 128, 64, waits));
  STRIA_RETURN_IF_ERROR(work.signal(open, Status(StatusCode::data_loss, "the suite's failure")));
  return is_refused(work.wait(copied), "a copy behind an event that failed");
}

void add_many_failures(CaseMaker& maker) {
  add(maker, "many.refused_opens", Level::robust, [](Subject& subject) {
    return does_not_grow(subject, 200, [&] {
      return is_refused(subject.open_device(subject.driver(), "no such device").status(),
                        "driver.open of a device that is not there");
    });
  });
  add(maker, "many.refused_allocations", Level::robust, [](Subject& subject) {
    const DeviceWork work(subject);
    return does_not_grow(subject, 200, [&] {
      return is_refused(work.allocate(uint64_t{1} << 62).status(), "device.allocate of 2^62 bytes");
    });
  });
  add(maker, "many.refused_copies", Level::robust, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(const Buffer buffer, work.allocate(256));
    return does_not_grow(subject, 1000, [&] {
      return is_refused(work.copy(executor, buffer, 0, buffer, 200, 100).status(),
                        "executor.copy beyond the buffer's end");
    });
  });
  add(maker, "many.failed_copies", Level::robust, [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(const Buffer buffer, work.allocate(256));
    return does_not_grow(subject, 400, [&] { return failed_copy(work, executor, buffer); });
  });
  struct Text {
    const char* name;
    std::string (*of)(const std::string& stripe);
  };
  static const Text texts[] = {
      {"no_stripe", [](const std::string&) { return std::string("no Stripe"); }},
      {"half_a_program", [](const std::string& text) { return text.substr(0, text.size() / 2); }}};
  for (const Text& text : texts)
    add(maker, fmt::format("many.refused_builds.{}", text.name), Level::robust,
        [&text](Subject& subject) -> Finding {
          STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
          const DeviceWork work(subject);
          const std::string wrong = text.of(program.stripe());
          return does_not_grow(subject, 200, [&] { return refused_build(work, wrong); });
        });
  add(maker, "many.builds", Level::robust, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    const DeviceWork work(subject);
    return does_not_grow(subject, 20, [&]() -> Status {
      STRIA_ASSIGN(const SmallBuild build, begin_build(work, program.stripe()));
      return work.wait(build.done);
    });
  }).limit = std::chrono::seconds(120);
}

}  // namespace

void add_growth_cases(CaseMaker& maker) {
  add_many_cases(maker);
  add_many_failures(maker);
}

}  // namespace stria::conformance
