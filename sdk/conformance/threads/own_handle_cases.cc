// SPDX-License-Identifier: Apache-2.0
// Each slot that is tagged "@threads handle", called by several threads at once on handles of their
// own.
#include "threads/at_once.h"
#include "threads/shared_handles.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kHandle =
    "@threads handle calls on one handle come one after another; different handles at once";

// What a thread does in a round: it makes what the slot is called on, unless `make` did, and calls
// the slot.
struct OwnHandle {
  Slot slot;
  bool with_program;
  int rounds;
  Status (*work)(SharedHandles& on, int thread, int round);
};

Status driver(SharedHandles& on, int, int) {
  TestHost host;
  {
    STRIA_ASSIGN(const Driver own, on.subject->make_driver(host));
    STRIA_ASSIGN(const auto devices, on.subject->list(own.get()));
    if (devices.size() != on.device_ids.size())
      return broken("a driver of this thread's lists {} devices, another one {}", devices.size(),
                    on.device_ids.size());
  }
  const std::string taken = host.taken(2000);
  return taken.empty() ? Status()
                       : broken("after driver.shutdown the plugin holds {} of the host's", taken);
}

Status compiler(SharedHandles& on, int, int) { return on.work->compiler().status(); }

Status library(SharedHandles& on, int, int) {
  STRIA_ASSIGN(const SmallBuild build, begin_build(*on.work, on.program->stripe()));
  return on.work->wait(build.done);
}

Status executor(SharedHandles& on, int thread, int) {
  STRIA_ASSIGN(const Executor own, on.work->executor());
  STRIA_ASSIGN(const Buffer buffer, on.work->allocate(64));
  const Bytes mark(1, static_cast<std::byte>(thread + 1));
  // Both are given back while it may be in flight.
  return on.work->fill(own, buffer, 0, 64, mark).status();
}

Status kernel(SharedHandles& on, int thread, int round) {
  for (size_t i = 0; i < on.kernels.size(); ++i)
    STRIA_RETURN_IF_ERROR(prepare(*on.work, on.loaded->executor, on.loaded->library, i).status());
  if (thread > 0) return Status();
  const auto seed = static_cast<uint32_t>(round);
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(*on.work, *on.program, seed));
  STRIA_ASSIGN(const Event done, start(*on.work, *on.loaded, tensors));
  STRIA_RETURN_IF_ERROR(on.work->wait(done));
  return tensors.check(*on.work, *on.program, seed);
}

Status buffer(SharedHandles& on, int thread, int round) {
  const Bytes contents = pattern(300, static_cast<uint32_t>(thread * 1000 + round));
  STRIA_ASSIGN(const Buffer own, on.work->buffer(contents));
  return on.work->holds(own, contents, "a buffer of this thread's");
}

Status event(SharedHandles& on, int thread, int round) {
  STRIA_ASSIGN(const Event own, on.work->host_event());
  stria_event* const waits[] = {own.get()};
  STRIA_ASSIGN(const Event behind, on.work->fill(on.executor, on.buffer, 0, 0, Bytes(1), waits));
  // Every other one is given back open.
  if ((thread + round) % 2 == 0) return on.work->signal(own);
  return Status();
}

const OwnHandle kOwnHandles[] = {
    {Slot::driver_create, false, 5, driver},        {Slot::driver_shutdown, false, 5, driver},
    {Slot::compiler_release, false, 100, compiler}, {Slot::library_release, true, 2, library},
    {Slot::executor_release, false, 30, executor},  {Slot::kernel_release, true, 20, kernel},
    {Slot::buffer_release, false, 50, buffer},      {Slot::event_release, false, 200, event}};

}  // namespace

void add_own_handle_cases(CaseMaker& maker) {
  for (const OwnHandle& own : kOwnHandles) {
    // Of driver.create and driver.shutdown each is tried by the other's calls too.
    const int threads = own.slot == Slot::driver_shutdown ? 2 : SharedHandles::kThreads;
    Case& c = maker.add('T', fmt::format("own.{}.{}_threads", name_of(own.slot), threads),
                        Level::robust, kHandle, [&own, threads](Subject& subject) -> Finding {
                          SharedHandles on;
                          STRIA_RETURN_IF_ERROR(SharedHandles::make(subject, own.with_program, on));
                          return at_once(threads, [&](int thread) -> Status {
                            for (int round = 0; round < own.rounds; ++round)
                              STRIA_RETURN_IF_ERROR(own.work(on, thread, round));
                            return Status();
                          });
                        });
    c.limit = std::chrono::seconds(60);
  }
  Case& c = maker.add(
      'T', "own.device_release.8_threads", Level::robust, kHandle, [](Subject& subject) -> Finding {
        // Opened one at a time, used and given back at once.
        std::vector<Device> devices;
        for (int i = 0; i < SharedHandles::kThreads; ++i) {
          STRIA_ASSIGN(Device device,
                       subject.open_device(subject.driver(), subject.device_info().id));
          devices.push_back(std::move(device));
        }
        return at_once(SharedHandles::kThreads, [&](int thread) -> Status {
          Device& own = devices[static_cast<size_t>(thread)];
          STRIA_RETURN_IF_ERROR(
              work_round(DeviceWork(subject.tables(), own.get()), static_cast<uint32_t>(thread)));
          own.reset();
          return Status();
        });
      });
  c.limit = std::chrono::seconds(60);
}

}  // namespace stria::conformance
