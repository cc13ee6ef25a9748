// SPDX-License-Identifier: Apache-2.0
// The host gives no memory, from the k-th allocation of a piece of work on.
#include <cstring>

#include "faults/fault_cases.h"
#include "stria/hal/boundary/received.h"
#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWithoutMemory =
    "A slot that gets none does without, or fails with STRIA_OUT_OF_MEMORY; once there is memory "
    "again the same call is well.";

// Allocations of one piece of work that fail in turn.
constexpr int kMostAllocations = 12;

// A driver of a host of its own, which can be told to have no memory, and its device.
struct Household {
  Subject* subject = nullptr;
  std::unique_ptr<TestHost> host;
  Driver driver;
  Device device;

  static Status make(Subject& subject, Household& out) {
    out.subject = &subject;
    out.host = std::make_unique<TestHost>();
    STRIA_ASSIGN(out.driver, subject.make_driver(*out.host));
    STRIA_ASSIGN(out.device, subject.open_device(out.driver.get(), subject.device_info().id));
    return Status();
  }
  DeviceWork work() const { return {subject->tables(), device.get()}; }
};

// A piece of work, whole and checked: everything that it makes is given back. It may make what it
// needs before `fail()`, which begins the shortage.
using Fail = std::function<void()>;
struct Piece {
  const char* name;
  bool with_program;
  Status (*run)(Household& home, const SmallProgram* program, const Fail& fail);
};

Status driver(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  STRIA_ASSIGN(const Driver driver, home.subject->make_driver(*home.host));
  return home.subject->list(driver.get()).status();
}

Status enumerate(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  STRIA_ASSIGN(const auto devices, home.subject->list(home.driver.get()));
  return devices.empty() ? broken("driver.enumerate lists nothing") : Status();
}

Status open(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  return home.subject->open_device(home.driver.get(), home.subject->device_info().id).status();
}

Status open_and_work(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  STRIA_ASSIGN(const Device device,
               home.subject->open_device(home.driver.get(), home.subject->device_info().id));
  return work_round(DeviceWork(home.subject->tables(), device.get()), 1);
}

Status info(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  hal::Received<hal::DeviceInfo> got;
  STRIA_SLOT(*home.subject, device, info, home.device.get(), hal::Received<hal::DeviceInfo>::sink,
             &got);
  return got.fault;
}

Status executor(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  return home.work().executor().status();
}

Status compiler(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  return home.work().compiler().status();
}

Status host_event(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  STRIA_ASSIGN(const Event event, home.work().host_event());
  STRIA_RETURN_IF_ERROR(home.work().signal(event));
  return home.work().wait(event);
}

template <uint64_t kBytes>
Status allocate(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  return home.work().allocate(kBytes).status();
}

Status write_and_read(Household& home, const SmallProgram*, const Fail& fail) {
  STRIA_ASSIGN(const Buffer buffer, home.work().allocate(5000));
  fail();
  STRIA_RETURN_IF_ERROR(home.work().write(buffer, 0, pattern(5000, 1)));
  return home.work().holds(buffer, pattern(5000, 1), "what was written into a buffer");
}

template <Slot kSlot>
Status map(Household& home, const SmallProgram*, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const Buffer buffer, work.buffer(pattern(5000, 2)));
  fail();
  STRIA_ASSIGN(const DeviceWork::Mapping mapping, work.map(kSlot, buffer, 0, 5000));
  const Status status = work.wait(mapping.ready);
  if (status.ok() && kSlot == Slot::buffer_map_discard) {
    const Bytes bytes = pattern(5000, 2);
    std::memcpy(mapping.memory, bytes.data(), bytes.size());
  }
  // The unmap comes whatever became of the mapping. If there is no memory for it, it comes again.
  auto unmapped = work.unmap(buffer, mapping.memory);
  Status first = unmapped.ok() ? work.wait(*unmapped) : unmapped.status();
  if (!unmapped.ok() && unmapped.status().code() == StatusCode::out_of_memory) {
    home.host->fail_allocation(0);
    STRIA_ASSIGN(unmapped, work.unmap(buffer, mapping.memory));
    STRIA_RETURN_IF_ERROR(work.wait_for_end(*unmapped));
  }
  return status.ok() ? first : status;
}

Status copy(Household& home, const SmallProgram*, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const Executor on, work.executor());
  STRIA_ASSIGN(const Buffer source, work.buffer(pattern(5000, 3)));
  STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(5000)));
  fail();
  STRIA_ASSIGN(const Event copied, work.copy(on, source, 0, target, 0, 5000));
  STRIA_RETURN_IF_ERROR(work.wait(copied));
  home.host->fail_allocation(0);
  return work.holds(target, pattern(5000, 3), "after a copy");
}

Status fill(Household& home, const SmallProgram*, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const Executor on, work.executor());
  STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(5000)));
  fail();
  // At an odd place: some drivers need memory for that.
  STRIA_ASSIGN(const Event filled, work.fill(on, target, 3, 4096, Bytes(16, std::byte{8})));
  STRIA_RETURN_IF_ERROR(work.wait(filled));
  home.host->fail_allocation(0);
  return work.holds(target, Bytes(4096, std::byte{8}), "after a fill", 3);
}

Status behind_a_host_event(Household& home, const SmallProgram*, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const Executor on, work.executor());
  STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(64)));
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event filled, work.fill(on, target, 0, 64, Bytes(1, std::byte{7}), waits));
  // The memory goes while the work waits.
  fail();
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(filled));
  home.host->fail_allocation(0);
  return work.holds(target, Bytes(64, std::byte{7}), "after a fill behind a host event");
}

Status events(Household& home, const SmallProgram*, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const Event open, work.host_event());
  fail();
  int called = 0;
  const auto count = [](void* state, const stria_error*) { ++*static_cast<int*>(state); };
  const Status asked = Subject::failure(Slot::event_on_done,
                                        work.tables().event.on_done(open.get(), count, &called));
  auto end = work.end_of(open);
  const Status signalled = work.signal(open);
  home.host->fail_allocation(0);
  if (!signalled.ok()) STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(open));
  if (called != (asked.ok() ? 1 : 0))
    return broken("event.on_done {} and called back {} times", asked.ok() ? "succeeded" : "failed",
                  called);
  if (end.ok()) STRIA_RETURN_IF_ERROR(work.wait(*end));
  STRIA_RETURN_IF_ERROR(asked);
  if (!end.ok() && end.status().code() != StatusCode::unimplemented) return end.status();
  return signalled;
}

Status round(Household& home, const SmallProgram*, const Fail& fail) {
  fail();
  return work_round(home.work(), 4);
}

// ---- programs

Status build(Household& home, const SmallProgram* program, const Fail& fail) {
  fail();
  STRIA_ASSIGN(const SmallBuild build, begin_build(home.work(), program->stripe()));
  STRIA_RETURN_IF_ERROR(home.work().wait(build.done));
  STRIA_ASSIGN(const auto kernels, kernels_of(home.work(), build.library));
  return kernels.empty() ? broken("library.kernels lists nothing") : Status();
}

Status texts(Household& home, const SmallProgram* program, const Fail& fail) {
  STRIA_ASSIGN(const SmallBuild build, begin_build(home.work(), program->stripe()));
  STRIA_RETURN_IF_ERROR(home.work().wait(build.done));
  fail();
  hal::Received<hal::NamedText> got;
  const Status status =
      Subject::failure(Slot::library_source,
                       home.work().tables().library.source(
                           build.library.get(), hal::Received<hal::NamedText>::text_sink, &got));
  if (!status.ok() && status.code() != StatusCode::unimplemented) return status;
  STRIA_RETURN_IF_ERROR(got.fault);
  return kernels_of(home.work(), build.library).status();
}

Status prepare_all(Household& home, const SmallProgram* program, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const SmallBuild build, begin_build(work, program->stripe()));
  STRIA_RETURN_IF_ERROR(work.wait(build.done));
  STRIA_ASSIGN(const auto kernels, kernels_of(work, build.library));
  STRIA_ASSIGN(const Executor on, work.executor());
  fail();
  for (size_t i = 0; i < kernels.size(); ++i)
    STRIA_RETURN_IF_ERROR(prepare(work, on, build.library, i).status());
  return Status();
}

Status run(Household& home, const SmallProgram* program, const Fail& fail) {
  const DeviceWork work = home.work();
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, *program));
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, *program, 5));
  fail();
  STRIA_ASSIGN(const Event done, start(work, loaded, tensors));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  home.host->fail_allocation(0);
  return tensors.check(work, *program, 5);
}

Status all_of_a_program(Household& home, const SmallProgram* program, const Fail& fail) {
  fail();
  return program_round(home.work(), *program, 6);
}

const Piece kPieces[] = {{"driver", false, driver},
                         {"enumerate", false, enumerate},
                         {"open", false, open},
                         {"open_and_work", false, open_and_work},
                         {"device_info", false, info},
                         {"executor", false, executor},
                         {"compiler", false, compiler},
                         {"host_event", false, host_event},
                         {"buffer_of_0", false, allocate<0>},
                         {"buffer_of_100", false, allocate<100>},
                         {"buffer_of_a_mebibyte", false, allocate<(1 << 20)>},
                         {"write_and_read", false, write_and_read},
                         {"map_current", false, map<Slot::buffer_map_current>},
                         {"map_discard", false, map<Slot::buffer_map_discard>},
                         {"map_read", false, map<Slot::buffer_map_read>},
                         {"copy", false, copy},
                         {"fill", false, fill},
                         {"behind_a_host_event", false, behind_a_host_event},
                         {"events", false, events},
                         {"round_of_work", false, round},
                         {"build", true, build},
                         {"source", true, texts},
                         {"prepare", true, prepare_all},
                         {"run", true, run},
                         {"program", true, all_of_a_program}};

// Without memory from each of its first allocations on, then with memory again: the same work is
// well.
Finding bears_no_memory(Subject& subject, const Piece& piece) {
  std::optional<SmallProgram> program;
  if (piece.with_program) {
    STRIA_ASSIGN(program, SmallProgram::of(subject));
  }
  const SmallProgram* const given = program ? &*program : nullptr;
  Household home;
  STRIA_RETURN_IF_ERROR(Household::make(subject, home));
  const Fail keep = [] {};
  const Status before = piece.run(home, given, keep);
  if (before.code() == StatusCode::unimplemented) return Finding::skip(before.message());
  STRIA_RETURN_IF_ERROR(before.with_context("with all the memory it wants"));
  for (int k = 1; k <= kMostAllocations; ++k) {
    const int64_t refused = home.host->allocations_refused();
    const Status status = piece.run(home, given, [&] { home.host->fail_allocation(k); });
    home.host->fail_allocation(0);
    if (!status.ok() && status.code() != StatusCode::out_of_memory)
      return broken(
          "without memory from the {}. allocation on it fails with '{}', not with "
          "STRIA_OUT_OF_MEMORY",
          k, status.to_string());
    const bool was_reached = home.host->allocations_refused() > refused;
    if (!status.ok() && !was_reached)
      return broken("it says that there is no memory ({}), and was given all that it asked for",
                    status.message());
    STRIA_RETURN_IF_ERROR(piece.run(home, given, keep)
                              .with_context(fmt::format("with memory again, after there was none "
                                                        "from the {}. allocation on",
                                                        k)));
    if (!was_reached) break;
  }
  home.device.reset();
  home.driver.reset();
  const std::string taken = home.host->taken(2000);
  if (!taken.empty())
    return broken_rule(Rule::leaves_nothing,
                       "after driver.shutdown the plugin still holds {} of the host's", taken);
  return {};
}

}  // namespace

void add_no_memory_cases(CaseMaker& maker) {
  for (const Piece& piece : kPieces) {
    Case& c = maker.add('F', fmt::format("no_memory.{}", piece.name), Level::robust, kWithoutMemory,
                        [&piece](Subject& subject) { return bears_no_memory(subject, piece); });
    c.place = Place::own;
    c.limit = std::chrono::seconds(90);
  }
}

}  // namespace stria::conformance
