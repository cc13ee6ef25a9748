// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/enumerate_cases.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "lifecycle/forked_run.h"
#include "stria/base/text.h"
#include "suite/device_work.h"
#include "suite/memory_in_use.h"
#include "suite/process_facts.h"

namespace stria::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kStableOrder =
    "Every device there could be, in a stable order, unavailable ones with the reason.";
constexpr std::string_view kNothingKept = "No device is opened, nothing is kept; under 50 ms.";
constexpr std::string_view kState =
    "A sink, a callback, a body and a task get the `state` that was given with them.";

Case& add(CaseMaker& maker, std::string_view name, Level level, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, level, sentence, std::move(run));
  c.place = Place::bare;
  return c;
}

std::string ids_of(const std::vector<hal::DeviceInfo>& devices) {
  std::vector<std::string> ids;
  for (const hal::DeviceInfo& device : devices) ids.push_back(device.id);
  return devices.empty() ? "no device" : join(ids, ", ");
}

// Whether two lists are the same, so far as nothing of the machine may have changed between them.
Status check_same(const std::vector<hal::DeviceInfo>& first,
                  const std::vector<hal::DeviceInfo>& again, const char* when) {
  if (ids_of(first) != ids_of(again))
    return broken("it lists {} {}; the first time it listed {}", ids_of(again), when,
                  ids_of(first));
  for (size_t i = 0; i < first.size(); ++i)
    if (first[i].kind != again[i].kind || first[i].name != again[i].name ||
        first[i].vendor != again[i].vendor || first[i].available != again[i].available)
      return broken(
          "{} it says of the device {} that it is '{}', kind '{}'{}; the first time it "
          "was '{}', kind '{}'{}",
          when, first[i].id, again[i].name, again[i].kind,
          again[i].available ? "" : ", not available", first[i].name, first[i].kind,
          first[i].available ? "" : ", not available");
  return Status();
}

Finding same_many_times(Subject& subject, int times) {
  STRIA_RETURN_IF_ERROR(subject.begin());
  STRIA_ASSIGN(const auto first, subject.list(subject.driver()));
  for (int i = 2; i <= times; ++i) {
    STRIA_ASSIGN(const auto again, subject.list(subject.driver()));
    STRIA_RETURN_IF_ERROR(check_same(first, again, fmt::format("the {}. time", i).c_str()));
  }
  return {};
}

}  // namespace

void add_enumerate_cases(CaseMaker& maker) {
  add(maker, "list.same_twice", Level::loads, kStableOrder,
      [](Subject& subject) { return same_many_times(subject, 2); });
  add(maker, "list.same_500_times", Level::robust, kStableOrder, [](Subject& subject) {
    return same_many_times(subject, 500);
  }).limit = std::chrono::seconds(60);

  add(maker, "list.in_50_ms", Level::loads, kNothingKept, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject.begin());
    // The fastest of several: what else runs on the machine is not the plugin's.
    auto fastest = Clock::duration::max();
    for (int i = 0; i < 10; ++i) {
      const auto begin = Clock::now();
      STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
      fastest = std::min(fastest, Clock::now() - begin);
    }
    if (fastest > std::chrono::milliseconds(50))
      return broken("the fastest of ten lists took {} ms, the limit is 50",
                    std::chrono::duration_cast<std::chrono::milliseconds>(fastest).count());
    return {};
  });
  add(maker, "list.creates_quickly", Level::loads,
      "Opens no device and no vendor library that takes longer than a few milliseconds.",
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.ask());
        auto fastest = Clock::duration::max();
        for (int i = 0; i < 5; ++i) {
          TestHost host;
          const auto begin = Clock::now();
          STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
          fastest = std::min(fastest, Clock::now() - begin);
        }
        if (fastest > std::chrono::milliseconds(50))
          return broken("the fastest of five calls of driver.create took {} ms, the limit is a few",
                        std::chrono::duration_cast<std::chrono::milliseconds>(fastest).count());
        return {};
      });
  add(maker, "list.keeps_nothing_of_the_host", Level::loads, kNothingKept,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
        const int64_t before = subject.host().allocations_held();
        for (int i = 0; i < 20; ++i) STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
        const int64_t kept = subject.host().allocations_held() - before;
        if (kept > 0)
          return broken("after 20 lists it holds {} more allocations of the host's", kept);
        return {};
      });
  add(maker, "list.opens_nothing", Level::right, kNothingKept, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject.begin());
    // The first time a vendor's library may come.
    for (int i = 0; i < 3; ++i) STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
    const ProcessFacts before = ProcessFacts::now();
    for (int i = 0; i < 20; ++i) STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
    const ProcessFacts after = ProcessFacts::now();
    if (after.descriptors.size() > before.descriptors.size())
      return broken("after 20 lists it has {} descriptors open, before it had {}",
                    after.descriptors.size(), before.descriptors.size());
    if (after.threads.size() > before.threads.size())
      return broken("after 20 lists the process has {} threads, before it had {}",
                    after.threads.size(), before.threads.size());
    return {};
  });
  add(maker, "list.memory_does_not_grow", Level::robust, kNothingKept,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        for (int i = 0; i < 100; ++i)
          STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
        const uint64_t before = written_bytes(), heap = heap_bytes();
        constexpr int kTimes = 500;
        for (int i = 0; i < kTimes; ++i)
          STRIA_RETURN_IF_ERROR(subject.list(subject.driver()).status());
        // Of memory that nobody has written to, only the heap knows.
        const uint64_t after = std::max(written_bytes(), before),
                       heap_after = std::max(heap_bytes(), heap);
        const uint64_t taken = std::max(after - before, heap_after - heap);
        if (taken > uint64_t{4} << 20)
          return broken("{} lists took {} KiB of memory", kTimes, taken >> 10);
        return {};
      })
      .limit = std::chrono::seconds(60);
  add(maker, "list.same_of_two_drivers", Level::right, kStableOrder,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        TestHost host;
        STRIA_ASSIGN(const Driver other, subject.make_driver(host));
        STRIA_ASSIGN(const auto first, subject.list(subject.driver()));
        STRIA_ASSIGN(const auto again, subject.list(other.get()));
        return check_same(first, again, "for another driver");
      });
  add(maker, "list.same_of_the_next_driver", Level::right, kStableOrder,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.ask());
        std::vector<hal::DeviceInfo> first;
        for (int i = 0; i < 3; ++i) {
          TestHost host;
          STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
          STRIA_ASSIGN(auto devices, subject.list(driver.get()));
          if (i == 0)
            first = std::move(devices);
          else
            STRIA_RETURN_IF_ERROR(check_same(first, devices, "for a later driver"));
        }
        return {};
      });
  add(maker, "list.same_on_another_thread", Level::right, kStableOrder,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        STRIA_ASSIGN(const auto first, subject.list(subject.driver()));
        Result<std::vector<hal::DeviceInfo>> again = std::vector<hal::DeviceInfo>();
        std::thread([&] { again = subject.list(subject.driver()); }).join();
        STRIA_RETURN_IF_ERROR(again.status());
        return check_same(first, *again, "on another thread");
      });
  add(maker, "list.same_while_a_device_is_open", Level::right, kStableOrder,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        STRIA_ASSIGN(const auto first, subject.list(subject.driver()));
        STRIA_RETURN_IF_ERROR(subject.open());
        STRIA_ASSIGN(const auto again, subject.list(subject.driver()));
        return check_same(first, again, "with a device open");
      });
  add(maker, "list.same_after_a_device_was_open", Level::right, kStableOrder,
      [](Subject& subject) -> Finding {
        STRIA_RETURN_IF_ERROR(subject.begin());
        STRIA_ASSIGN(const auto first, subject.list(subject.driver()));
        STRIA_RETURN_IF_ERROR(subject.open());
        STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject), 1));
        STRIA_RETURN_IF_ERROR(subject.end());
        STRIA_RETURN_IF_ERROR(subject.begin());
        STRIA_ASSIGN(const auto again, subject.list(subject.driver()));
        return check_same(first, again, "after a device was open");
      });
  add(maker, "list.same_in_another_process", Level::right,
      "stable between runs and unique in the plugin, for example \"0\" or \"pci-03:00.0\"",
      [](Subject& subject) -> Finding {
        std::string lists[2];
        for (std::string& list : lists) {
          STRIA_ASSIGN(const ForkedEnd end, run_forked([&](const Say& say) {
                         const Status begun = subject.begin();
                         if (!begun.ok()) return say(begun.message()), 1;
                         const auto devices = subject.list(subject.driver());
                         if (!devices.ok()) return say(devices.status().message()), 1;
                         say(ids_of(*devices));
                         return 0;
                       }));
          if (!end.in_time || end.wait_status != 0)
            return broken("a process that lists devices {} ({})", words_for(end), end.said);
          list = end.said;
        }
        if (lists[0] != lists[1])
          return broken("one process lists {}, the next {}", lists[0], lists[1]);
        return {};
      });
  add(maker, "list.sink_gets_its_state", Level::loads, kState, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject.begin());
    struct State {
      void* self = nullptr;
      int calls = 0, foreign = 0, null = 0;
    };
    static State* expected = nullptr;
    static int foreign = 0;
    State states[2];
    for (State& state : states) {
      expected = &state;
      foreign = 0;
      STRIA_SLOT(
          subject, driver, enumerate, subject.driver(),
          [](void* raw, const stria_device_info* info) {
            if (raw != expected)
              ++foreign;
            else if (!info)
              ++static_cast<State*>(raw)->null;
            else
              ++static_cast<State*>(raw)->calls;
          },
          &state);
      if (foreign > 0) return broken("it calls the sink {} times with another state", foreign);
      if (state.null > 0)
        return broken_rule(Rule::sink_devices, "it calls the sink {} times with nothing",
                           state.null);
    }
    if (states[0].calls != states[1].calls)
      return broken("it lists {} devices, then {}", states[0].calls, states[1].calls);
    return {};
  });
}

}  // namespace stria::conformance
