// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/driver_cases.h"

#include <set>
#include <thread>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kSeveral =
    "A process may create several, of several hosts: a plugin keeps what it knows in its driver, "
    "not in globals.";
constexpr std::string_view kEndsWork =
    "Ends the plugin's work; every other handle has been released and every event is done.";

// A driver of a host of its own, with the subject's device open.
struct Life {
  std::unique_ptr<TestHost> host;
  Driver driver;
  Device device;  // goes before the driver

  static Result<Life> begin(Subject& subject) {
    Life out;
    out.host = std::make_unique<TestHost>();
    STRIA_ASSIGN(out.driver, subject.make_driver(*out.host));
    STRIA_ASSIGN(out.device, subject.open_device(out.driver.get(), subject.device_info().id));
    return out;
  }
  DeviceWork work(const Subject& subject) const { return {subject.tables(), device.get()}; }
  // Whether all of the host's was given back.
  Status end() {
    device.reset();
    driver.reset();
    const std::string taken = host->taken(2000);
    if (taken.empty()) return Status();
    return broken_rule(Rule::leaves_nothing,
                       "after driver.shutdown the plugin still holds {} of this host's", taken);
  }
};

Case& add(CaseMaker& maker, std::string_view name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, Level::robust, sentence, std::move(run));
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

// Two lives that work; `first` says which ends first. The other works on.
Finding two_lives(Subject& subject, bool first_ends_first) {
  STRIA_ASSIGN(Life a, Life::begin(subject));
  STRIA_ASSIGN(Life b, Life::begin(subject));
  STRIA_RETURN_IF_ERROR(work_round(a.work(subject), 1));
  STRIA_RETURN_IF_ERROR(work_round(b.work(subject), 2));
  Life& early = first_ends_first ? a : b;
  Life& late = first_ends_first ? b : a;
  STRIA_RETURN_IF_ERROR(early.end());
  STRIA_RETURN_IF_ERROR(subject.list(late.driver.get()).status());
  STRIA_RETURN_IF_ERROR(work_round(late.work(subject), 3));
  STRIA_RETURN_IF_ERROR(late.end());
  return work_round(DeviceWork(subject), 4);
}

}  // namespace

void add_driver_cases(CaseMaker& maker) {
  add(maker, "drivers.first_ends_first", kSeveral,
      [](Subject& subject) { return two_lives(subject, true); });
  add(maker, "drivers.second_ends_first", kSeveral,
      [](Subject& subject) { return two_lives(subject, false); });
  add(maker, "drivers.both_run_programs", kSeveral, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    STRIA_ASSIGN(Life a, Life::begin(subject));
    STRIA_ASSIGN(Life b, Life::begin(subject));
    {
      STRIA_ASSIGN(const LoadedSmall in_a, load(a.work(subject), program));
      STRIA_ASSIGN(const LoadedSmall in_b, load(b.work(subject), program));
      for (uint32_t seed = 1; seed <= 3; ++seed)
        for (const bool of_a : {true, false}) {
          const DeviceWork work = (of_a ? a : b).work(subject);
          STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, seed));
          STRIA_ASSIGN(const Event done, start(work, of_a ? in_a : in_b, tensors));
          STRIA_RETURN_IF_ERROR(work.wait(done));
          STRIA_RETURN_IF_ERROR(tensors.check(work, program, seed));
        }
    }
    STRIA_RETURN_IF_ERROR(a.end());
    return b.end();
  });
  add(maker, "drivers.one_ends_while_another_has_work", kEndsWork, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(Life a, Life::begin(subject));
    STRIA_ASSIGN(Life b, Life::begin(subject));
    const DeviceWork work = b.work(subject);
    {
      STRIA_ASSIGN(const Executor executor, work.executor());
      STRIA_ASSIGN(const Buffer source, work.buffer(pattern(512, 7)));
      STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(512)));
      STRIA_ASSIGN(const Event open, work.host_event());
      stria_event* const waits[] = {open.get()};
      STRIA_ASSIGN(const Event copied, work.copy(executor, source, 0, target, 0, 512, waits));
      // Waits for its own work, not for that of others: this would never end.
      STRIA_RETURN_IF_ERROR(a.end());
      STRIA_RETURN_IF_ERROR(work.signal(open));
      STRIA_RETURN_IF_ERROR(work.wait(copied));
      STRIA_RETURN_IF_ERROR(work.holds(target, pattern(512, 7), "after a copy"));
    }
    return b.end();
  });
  add(maker, "drivers.each_takes_of_its_own_host", kSeveral, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(Life a, Life::begin(subject));
    STRIA_ASSIGN(Life b, Life::begin(subject));
    const int64_t before = a.host->allocations_held();
    std::vector<Buffer> buffers;
    for (int i = 0; i < 10; ++i) {
      STRIA_ASSIGN(Buffer buffer, b.work(subject).buffer(Bytes(1000)));
      buffers.push_back(std::move(buffer));
    }
    STRIA_RETURN_IF_ERROR(work_round(b.work(subject), 5));
    if (const int64_t more = a.host->allocations_held() - before; more > 0)
      return broken("buffers of one driver took {} allocations of another driver's host", more);
    buffers.clear();
    STRIA_RETURN_IF_ERROR(b.end());
    return a.end();
  });
  add(maker, "drivers.each_asks_its_own_host", kSeveral, [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject.open());
    // The one in the middle works: what others are asked for meanwhile, and it is not, was for it.
    STRIA_ASSIGN(Life a, Life::begin(subject));
    STRIA_ASSIGN(Life b, Life::begin(subject));
    const DeviceWork work = a.work(subject);
    // So long that a kernel is worth several threads, if the device has room.
    Result<SmallProgram> program = SmallProgram::compile(
        work, subject.device_info(), *subject.manifest(), subject.options().directory, 1 << 18);
    if (!program.ok()) program = SmallProgram::of(subject);
    if (!program.ok()) return program.status();
    TestHost* const others[] = {&subject.host(), b.host.get()};
    a.host->asked_from_now_on();
    for (TestHost* other : others) other->asked_from_now_on();
    STRIA_RETURN_IF_ERROR(program_round(work, *program, 1));
    const std::set<std::string> own = a.host->asked_from_now_on();
    for (TestHost* other : others)
      for (const std::string& service : other->asked_from_now_on())
        if (!own.contains(service))
          return broken("what one driver runs asks another driver's host: {}", service);
    STRIA_RETURN_IF_ERROR(a.end());
    return b.end();
  });
  add(maker, "drivers.one_host_has_no_memory", kSeveral, [](Subject& subject) -> Finding {
    STRIA_ASSIGN(Life a, Life::begin(subject));
    STRIA_ASSIGN(Life b, Life::begin(subject));
    a.host->fail_allocation(1);
    const Status other = work_round(b.work(subject), 6);
    a.host->fail_allocation(0);
    if (!other.ok())
      return broken("when one driver's host gives no memory, another driver's work fails: {}",
                    other.message());
    STRIA_RETURN_IF_ERROR(work_round(a.work(subject), 7));
    STRIA_RETURN_IF_ERROR(a.end());
    return b.end();
  });
  add(maker, "drivers.ten_at_once", kSeveral, [](Subject& subject) -> Finding {
    std::vector<Life> lives;
    for (int i = 0; i < 10; ++i) {
      STRIA_ASSIGN(Life life, Life::begin(subject));
      lives.push_back(std::move(life));
    }
    for (size_t i = 0; i < lives.size(); ++i)
      STRIA_RETURN_IF_ERROR(work_round(lives[i].work(subject), static_cast<uint32_t>(i)));
    // From the middle outwards.
    for (const size_t i : {4, 5, 3, 6, 2, 7, 1, 8, 0, 9}) {
      STRIA_RETURN_IF_ERROR(lives[i].end());
      if (i != 9) STRIA_RETURN_IF_ERROR(work_round(lives[9].work(subject), 30));
    }
    return {};
  });
  add(maker, "drivers.20_in_turn", kSeveral, [](Subject& subject) -> Finding {
    for (uint32_t i = 0; i < 20; ++i) {
      STRIA_ASSIGN(Life life, Life::begin(subject));
      STRIA_RETURN_IF_ERROR(work_round(life.work(subject), i));
      STRIA_RETURN_IF_ERROR(life.end());
    }
    return {};
  });
  add(maker, "drivers.on_two_threads_at_once",
      "@threads handle calls on one handle come one after another; different handles at once",
      [](Subject& subject) -> Finding {
        Status found[2];
        std::vector<std::thread> threads;
        std::vector<Life> lives(2);
        // Devices are opened one at a time.
        for (Life& life : lives) {
          STRIA_ASSIGN(life, Life::begin(subject));
        }
        for (size_t t = 0; t < 2; ++t)
          threads.emplace_back([&, t] {
            const auto round = [&]() -> Status {
              for (uint32_t i = 0; i < 20; ++i)
                STRIA_RETURN_IF_ERROR(
                    work_round(lives[t].work(subject), static_cast<uint32_t>(t) * 100 + i));
              return lives[t].end();
            };
            found[t] = round();
          });
        for (std::thread& thread : threads) thread.join();
        STRIA_RETURN_IF_ERROR(found[0]);
        return found[1];
      });
  add(maker, "drivers.begun_on_one_thread_and_ended_on_another", kEndsWork,
      [](Subject& subject) -> Finding {
        Life life;
        Status status;
        std::thread([&] {
          auto begun = Life::begin(subject);
          status = begun.status();
          if (begun.ok()) life = std::move(*begun);
        }).join();
        STRIA_RETURN_IF_ERROR(status);
        STRIA_RETURN_IF_ERROR(work_round(life.work(subject), 8));
        std::thread([&] { status = life.end(); }).join();
        return status;
      });
  add(maker, "drivers.without_a_device", kEndsWork, [](Subject& subject) -> Finding {
    TestHost host;
    {
      STRIA_ASSIGN(const Driver first, subject.make_driver(host));
      // One host may make more drivers than one.
      STRIA_ASSIGN(const Driver second, subject.make_driver(host));
    }
    if (const std::string taken = host.taken(2000); !taken.empty())
      return broken("two drivers that did nothing left {} of the host's", taken);
    return work_round(DeviceWork(subject), 9);
  });
}

}  // namespace stria::conformance
