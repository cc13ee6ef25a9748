// SPDX-License-Identifier: Apache-2.0
// The host's cache does not work: its disk is full, or gone.
#include "faults/fault_cases.h"
#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWithoutCache =
    "put may drop the value. A plugin whose cache fails does without, or fails with "
    "STRIA_UNAVAILABLE; once the cache is back the same call is well.";

// When the cache fails: from there on, or only there.
enum class When { always, while_it_begins, while_it_builds, while_it_runs };
constexpr const char* kNames[] = {"always", "while_it_begins", "while_it_builds", "while_it_runs"};

// What a plugin that asks the cache may do: without it, or say what the cache said.
Status without_cache(const Status& status) {
  if (status.ok() || status.code() == StatusCode::unavailable) return Status();
  return broken("when the cache says STRIA_UNAVAILABLE it fails with '{}'", status.to_string());
}

Status live(Subject& subject, TestHost& host, const SmallProgram& program, When when) {
  const auto at = [&](When now) { host.fail_cache(when == When::always || when == now); };
  at(When::while_it_begins);
  auto driver = subject.make_driver(host);
  STRIA_RETURN_IF_ERROR(without_cache(driver.status()));
  if (!driver.ok()) {
    host.fail_cache(false);
    STRIA_ASSIGN(driver, subject.make_driver(host));
  }
  auto device = subject.open_device(driver->get(), subject.device_info().id);
  STRIA_RETURN_IF_ERROR(without_cache(device.status()));
  host.fail_cache(false);
  if (!device.ok()) {
    STRIA_ASSIGN(device, subject.open_device(driver->get(), subject.device_info().id));
  }
  const DeviceWork work(subject.tables(), device->get());
  at(When::while_it_builds);
  auto loaded = load(work, program);
  STRIA_RETURN_IF_ERROR(without_cache(loaded.status()));
  host.fail_cache(false);
  if (!loaded.ok()) {
    STRIA_ASSIGN(loaded, load(work, program));
  }
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, 1));
  at(When::while_it_runs);
  STRIA_ASSIGN(const Event done, start(work, *loaded, tensors));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  STRIA_RETURN_IF_ERROR(tensors.check(work, program, 1));
  host.fail_cache(false);
  return program_round(work, program, 2);
}

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  Case& c = maker.add('F', name, Level::robust, kWithoutCache, std::move(run));
  c.place = Place::own;
  c.limit = std::chrono::seconds(60);
  return c;
}

}  // namespace

void add_cache_cases(CaseMaker& maker) {
  for (const When when :
       {When::always, When::while_it_begins, When::while_it_builds, When::while_it_runs})
    add(maker, fmt::format("cache.fails_{}", kNames[static_cast<int>(when)]),
        [when](Subject& subject) -> Finding {
          STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
          TestHost host;
          STRIA_RETURN_IF_ERROR(live(subject, host, program, when));
          const std::string taken = host.taken(2000);
          if (!taken.empty())
            return broken("after driver.shutdown the plugin holds {} of the host's", taken);
          return {};
        });
  // What one life has put there, the next one gets.
  add(maker, "cache.of_an_earlier_life", [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    TestHost host;
    for (uint32_t life = 0; life < 3; ++life) {
      STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
      STRIA_ASSIGN(const Device device,
                   subject.open_device(driver.get(), subject.device_info().id));
      STRIA_RETURN_IF_ERROR(
          program_round(DeviceWork(subject.tables(), device.get()), program, life));
    }
    return {};
  });
  add(maker, "cache.comes_back", [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    TestHost host;
    STRIA_RETURN_IF_ERROR(live(subject, host, program, When::always));
    return live(subject, host, program, When::while_it_runs);
  });
}

}  // namespace stria::conformance
