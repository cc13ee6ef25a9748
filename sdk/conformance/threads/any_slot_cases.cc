// SPDX-License-Identifier: Apache-2.0
// Each slot that is tagged "@threads any", called by several threads at once on one handle.
#include <unistd.h>

#include <cstring>

#include "stria/hal/boundary/received.h"
#include "threads/at_once.h"
#include "threads/shared_handles.h"
#include "threads/thread_cases.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kAny =
    "@threads any may be called from any thread at any time, also at once on one handle";

// What a thread does in a round; its number is below SharedHandles::kThreads.
using Work = Status (*)(SharedHandles& on, int thread, int round);

struct AnySlot {
  Slot slot;
  bool with_program;
  int rounds;
  Work work;
};

uint32_t seed_of(int thread, int round) { return static_cast<uint32_t>(thread * 1000 + round); }

// ---- driver and device

Status enumerate(SharedHandles& on, int, int) {
  STRIA_ASSIGN(const auto devices, on.subject->list(on.subject->driver()));
  if (devices.size() != on.device_ids.size())
    return broken("driver.enumerate lists {} devices, alone it lists {}", devices.size(),
                  on.device_ids.size());
  for (size_t i = 0; i < devices.size(); ++i)
    if (devices[i].id != on.device_ids[i])
      return broken("driver.enumerate lists '{}' where alone it lists '{}'", devices[i].id,
                    on.device_ids[i]);
  return Status();
}

// Devices are opened one at a time, while others list them and work.
Status open(SharedHandles& on, int thread, int round) {
  if (thread > 0)
    return thread % 2 == 1 ? enumerate(on, thread, round)
                           : work_round(*on.work, seed_of(thread, round));
  STRIA_ASSIGN(const Device device,
               on.subject->open_device(on.subject->driver(), on.subject->device_info().id));
  return work_round(DeviceWork(on.work->tables(), device.get()), seed_of(thread, round));
}

Status info(SharedHandles& on, int, int) {
  hal::Received<hal::DeviceInfo> got;
  STRIA_SLOT(*on.subject, device, info, on.work->device(), hal::Received<hal::DeviceInfo>::sink,
             &got);
  STRIA_RETURN_IF_ERROR(got.fault);
  if (got.items.size() != 1 || got.items[0].id != on.subject->device_info().id)
    return broken("device.info calls the sink {} times", got.items.size());
  return Status();
}

Status create_compiler(SharedHandles& on, int, int) { return on.work->compiler().status(); }

Status create_executor(SharedHandles& on, int thread, int) {
  STRIA_ASSIGN(const Executor executor, on.work->executor());
  const Bytes mark(1, static_cast<std::byte>(thread + 1));
  STRIA_ASSIGN(const Buffer own, on.work->allocate(64));
  STRIA_ASSIGN(const Event filled, on.work->fill(executor, own, 0, 64, mark));
  STRIA_RETURN_IF_ERROR(on.work->wait(filled));
  return on.work->holds(own, Bytes(64, mark[0]), "after a fill on an executor of its own");
}

Status allocate(SharedHandles& on, int thread, int round) {
  const uint64_t bytes = 100 + static_cast<uint64_t>(thread) * 333;
  const Bytes contents = pattern(bytes, seed_of(thread, round));
  STRIA_ASSIGN(const Buffer buffer, on.work->buffer(contents));
  return on.work->holds(buffer, contents, "a buffer of this thread's");
}

Status create_event(SharedHandles& on, int thread, int round) {
  STRIA_ASSIGN(const Event event, on.work->host_event());
  const bool fails = (thread + round) % 2 == 1;
  STRIA_RETURN_IF_ERROR(on.work->signal(
      event, fails ? Status(StatusCode::unavailable, "of this thread's") : Status()));
  const Status status = on.work->wait(event);
  if (status.ok() == fails)
    return broken("a host event of this thread's ends as '{}'", status.to_string());
  return Status();
}

// ---- compiler, library, kernel

Status build(SharedHandles& on, int, int) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(on.program->stripe());
  params.options = hal::to_c("{}");
  stria_library* raw = nullptr;
  stria_event* raw_done = nullptr;
  STRIA_SLOT(*on.subject, compiler, build, on.compiler.get(), &params, nullptr, 0, &raw, &raw_done);
  const Library library(raw, on.work->tables().library.release);
  const Event done(raw_done, on.work->tables().event.release);
  STRIA_RETURN_IF_ERROR(on.work->wait(done));
  STRIA_ASSIGN(const auto kernels, kernels_of(*on.work, library));
  if (kernels != on.kernels) return broken("built at once the program has other kernels");
  return Status();
}

Status transform(SharedHandles& on, int, int) {
  const Status status = Subject::failure(
      Slot::compiler_transform,
      on.work->tables().compiler.transform(
          on.compiler.get(), hal::to_c(on.program->stripe()), hal::to_c("no_such_pass"),
          hal::to_c("{}"), [](void*, stria_string, stria_string) {}, nullptr));
  if (status.code() == StatusCode::unimplemented || status.code() == StatusCode::not_found)
    return Status();
  return broken("compiler.transform of the pass 'no_such_pass' says '{}', not STRIA_NOT_FOUND",
                status.to_string());
}

Status kernels(SharedHandles& on, int, int) {
  STRIA_ASSIGN(const auto kernels, kernels_of(*on.work, on.loaded->library));
  if (kernels != on.kernels) return broken("library.kernels lists other kernels than alone");
  return Status();
}

Status source(SharedHandles& on, int, int) {
  hal::Received<hal::NamedText> texts;
  const Status status = Subject::failure(
      Slot::library_source,
      on.work->tables().library.source(on.loaded->library.get(),
                                       hal::Received<hal::NamedText>::text_sink, &texts));
  if (!status.ok() && status.code() != StatusCode::unimplemented) return status;
  if (texts.items.size() != on.sources.size())
    return broken("library.source gives {} texts, alone it gives {}", texts.items.size(),
                  on.sources.size());
  return Status();
}

// A run on the shared executor with tensors of the thread's own.
Status run_once(SharedHandles& on, const LoadedSmall& loaded, uint32_t seed) {
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(*on.work, *on.program, seed));
  STRIA_ASSIGN(const Event done, start(*on.work, loaded, tensors));
  STRIA_RETURN_IF_ERROR(on.work->wait(done));
  return tensors.check(*on.work, *on.program, seed);
}

Status prepare_kernel(SharedHandles& on, int thread, int round) {
  LoadedSmall own;
  own.plan = on.loaded->plan;
  STRIA_ASSIGN(own.executor, on.work->executor());
  for (size_t i = 0; i < on.kernels.size(); ++i) {
    // On the shared executor, to be given back; on the thread's own, to be run.
    STRIA_RETURN_IF_ERROR(prepare(*on.work, on.loaded->executor, on.loaded->library, i).status());
    STRIA_ASSIGN(Kernel kernel, prepare(*on.work, own.executor, on.loaded->library, i));
    own.kernels.push_back(std::move(kernel));
  }
  return run_once(on, own, seed_of(thread, round));
}

Status submit(SharedHandles& on, int thread, int round) {
  return run_once(on, *on.loaded, seed_of(thread, round));
}

Status run(SharedHandles& on, int thread, int round) {
  const uint32_t seed = seed_of(thread, round);
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(*on.work, *on.program, seed));
  STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(*on.work, *on.loaded, tensors));
  // In the order of the list, each after all before it.
  std::vector<Event> done;
  for (uint64_t i = 0; i < launches.count(); ++i) {
    const stria_launch& launch = *launches.list()[i];
    stria_event* const waits[] = {done.empty() ? nullptr : done.back().get()};
    stria_event* raw = nullptr;
    STRIA_SLOT(*on.subject, kernel, run, launch.kernel, launch.arguments, launch.argument_count,
               waits, done.empty() ? 0 : 1, &raw);
    done.emplace_back(raw, on.work->tables().event.release);
  }
  STRIA_RETURN_IF_ERROR(on.work->flush(on.loaded->executor));
  for (const Event& event : done) STRIA_RETURN_IF_ERROR(on.work->wait(event));
  return tensors.check(*on.work, *on.program, seed);
}

// ---- executor

Status copy(SharedHandles& on, int thread, int round) {
  const Bytes contents = pattern(700, seed_of(thread, round));
  STRIA_ASSIGN(const Buffer source, on.work->buffer(contents));
  STRIA_ASSIGN(const Buffer target, on.work->allocate(700));
  STRIA_ASSIGN(const Event copied, on.work->copy(on.executor, source, 0, target, 0, 700));
  STRIA_RETURN_IF_ERROR(on.work->wait(copied));
  return on.work->holds(target, contents, "after a copy of this thread's");
}

Status fill(SharedHandles& on, int thread, int round) {
  const auto offset = static_cast<uint64_t>(thread) * SharedHandles::kShare;
  const Bytes mark(1, static_cast<std::byte>(thread * 16 + round % 16));
  STRIA_ASSIGN(const Event filled,
               on.work->fill(on.executor, on.buffer, offset, SharedHandles::kShare, mark));
  STRIA_RETURN_IF_ERROR(on.work->wait(filled));
  return on.work->holds(on.buffer, Bytes(SharedHandles::kShare, mark[0]),
                        "this thread's part of a buffer after a fill", offset);
}

Status flush(SharedHandles& on, int thread, int round) {
  STRIA_RETURN_IF_ERROR(on.work->flush(on.executor));
  return fill(on, thread, round);
}

Status drain(SharedHandles& on, int thread, int round) {
  const auto offset = static_cast<uint64_t>(thread) * SharedHandles::kShare;
  const Bytes mark(1, static_cast<std::byte>(thread * 16 + round % 16));
  STRIA_ASSIGN(const Event filled,
               on.work->fill(on.executor, on.buffer, offset, SharedHandles::kShare, mark));
  STRIA_SLOT(*on.subject, executor, drain, on.executor.get(), uint64_t{20} * 1'000'000'000);
  STRIA_ASSIGN(const bool done, on.work->is_done(filled));
  if (!done) return broken("executor.drain returns before work that this thread submitted is done");
  return Status();
}

// ---- buffer

Status map_own(SharedHandles& on, Slot slot, int thread, int round) {
  const auto offset = static_cast<uint64_t>(thread) * SharedHandles::kShare;
  const Bytes contents = pattern(SharedHandles::kShare, seed_of(thread, round));
  STRIA_ASSIGN(const DeviceWork::Mapping mapping,
               on.work->map(slot, on.buffer, offset, SharedHandles::kShare));
  STRIA_RETURN_IF_ERROR(on.work->wait(mapping.ready));
  std::memcpy(mapping.memory, contents.data(), contents.size());
  STRIA_ASSIGN(const Event unmapped, on.work->unmap(on.buffer, mapping.memory));
  STRIA_RETURN_IF_ERROR(on.work->wait(unmapped));
  return on.work->holds(on.buffer, contents, "this thread's part of a mapped buffer", offset);
}
Status map_current(SharedHandles& on, int thread, int round) {
  return map_own(on, Slot::buffer_map_current, thread, round);
}
Status map_discard(SharedHandles& on, int thread, int round) {
  return map_own(on, Slot::buffer_map_discard, thread, round);
}

// All threads read all of it.
Status map_read(SharedHandles& on, int, int) {
  constexpr uint64_t kBytes = SharedHandles::kThreads * SharedHandles::kShare;
  STRIA_ASSIGN(const DeviceWork::Mapping mapping,
               on.work->map(Slot::buffer_map_read, on.buffer, 0, kBytes));
  STRIA_RETURN_IF_ERROR(on.work->wait(mapping.ready));
  const std::string text = difference(
      std::span(static_cast<const std::byte*>(mapping.memory), kBytes), pattern(kBytes, 51));
  STRIA_ASSIGN(const Event unmapped, on.work->unmap(on.buffer, mapping.memory));
  if (!text.empty()) return broken("in memory that several threads read {}", text);
  return on.work->wait(unmapped);
}

// ---- event

Status wait_for_open(SharedHandles& on, int thread, int round) {
  // The last thread ends what the others wait for.
  if (round == 0 && thread == 0) return on.work->signal(on.open);
  return on.work->wait(on.open);
}

Status query(SharedHandles& on, int, int) {
  STRIA_ASSIGN(const bool done, on.work->is_done(on.done));
  STRIA_ASSIGN(const bool failed, on.work->is_done(on.failed));
  STRIA_ASSIGN(const bool open, on.work->is_done(on.open));
  if (!done || !failed || open)
    return broken("event.query says {} of a done event, {} of a failed one, {} of an open one",
                  done, failed, open);
  return Status();
}

Status status(SharedHandles& on, int, int) {
  const hal::Tables& tables = on.work->tables();
  STRIA_RETURN_IF_ERROR(Subject::failure(Slot::event_status, tables.event.status(on.done.get())));
  const Status failed = Subject::failure(Slot::event_status, tables.event.status(on.failed.get()));
  const Status open = Subject::failure(Slot::event_status, tables.event.status(on.open.get()));
  if (failed.code() != StatusCode::data_loss || open.code() != StatusCode::failed_precondition)
    return broken(
        "event.status says '{}' of an event that failed with STRIA_DATA_LOSS, '{}' of an "
        "open one",
        failed.to_string(), open.to_string());
  return Status();
}

Status duration(SharedHandles& on, int, int) {
  const hal::Tables& tables = on.work->tables();
  uint64_t time = 1;
  STRIA_SLOT(*on.subject, event, duration_ns, on.failed.get(), &time);
  if (time != 0) return broken("work that was not done took {} ns", time);
  const Status open =
      Subject::failure(Slot::event_duration_ns, tables.event.duration_ns(on.open.get(), &time));
  if (open.code() != StatusCode::failed_precondition)
    return broken("event.duration_ns of an open event says '{}'", open.to_string());
  return Status();
}

Status on_done(SharedHandles& on, int, int) {
  const auto count = [](void* state, const stria_error*) {
    ++*static_cast<std::atomic<int>*>(state);
  };
  std::atomic<int> at_once{0};
  STRIA_SLOT(*on.subject, event, on_done, on.done.get(), count, &at_once);
  if (at_once != 1)
    return broken("event.on_done of a done event called back {} times, not once", at_once.load());
  STRIA_SLOT(*on.subject, event, on_done, on.open.get(), count, &on.called_back);
  return Status();
}

Status signal(SharedHandles& on, int, int) {
  const Status status = on.work->signal(on.open);
  if (status.ok())
    ++on.signalled;
  else if (status.code() == StatusCode::failed_precondition)
    ++on.refused;
  else
    return broken("event.signal of a signalled event says '{}'", status.to_string());
  return Status();
}

Status end(SharedHandles& on, int, int) {
  auto end = on.work->end_of(on.failed);
  if (end.status().code() == StatusCode::unimplemented) return Status();
  STRIA_RETURN_IF_ERROR(end.status());
  return on.work->wait(*end);
}

const AnySlot kAnySlots[] = {{Slot::driver_enumerate, false, 30, enumerate},
                             {Slot::driver_open, false, 10, open},
                             {Slot::device_info, false, 200, info},
                             {Slot::device_create_compiler, false, 100, create_compiler},
                             {Slot::device_create_executor, false, 30, create_executor},
                             {Slot::device_allocate, false, 50, allocate},
                             {Slot::device_create_event, false, 200, create_event},
                             {Slot::compiler_build, true, 2, build},
                             {Slot::compiler_transform, true, 20, transform},
                             {Slot::library_kernels, true, 100, kernels},
                             {Slot::library_source, true, 10, source},
                             {Slot::executor_prepare, true, 3, prepare_kernel},
                             {Slot::executor_submit, true, 20, submit},
                             {Slot::executor_copy, false, 50, copy},
                             {Slot::executor_fill, false, 50, fill},
                             {Slot::executor_flush, false, 50, flush},
                             {Slot::executor_drain, false, 30, drain},
                             {Slot::kernel_run, true, 20, run},
                             {Slot::buffer_map_current, false, 50, map_current},
                             {Slot::buffer_map_discard, false, 50, map_discard},
                             {Slot::buffer_map_read, false, 50, map_read},
                             {Slot::event_wait, false, 5, wait_for_open},
                             {Slot::event_query, false, 500, query},
                             {Slot::event_status, false, 200, status},
                             {Slot::event_duration_ns, false, 200, duration},
                             {Slot::event_on_done, false, 100, on_done},
                             {Slot::event_signal, false, 1, signal},
                             {Slot::event_end, false, 100, end}};

// What all threads together did.
Status check_sum(SharedHandles& on, const AnySlot& any, int threads) {
  if (any.slot == Slot::event_signal && (on.signalled != 1 || on.refused != threads - 1))
    return broken(
        "of {} threads that signalled one host event {} succeeded and {} were refused; "
        "one may succeed",
        threads, on.signalled.load(), on.refused.load());
  if (any.slot != Slot::event_on_done) return Status();
  const int expected = threads * any.rounds;
  if (on.called_back != 0)
    return broken("an open event called back {} times", on.called_back.load());
  STRIA_RETURN_IF_ERROR(on.work->signal(on.open));
  for (int i = 0; i < patience_ms() && on.called_back < expected; ++i) ::usleep(1000);
  if (on.called_back != expected)
    return broken("of {} callbacks that {} threads asked for {} came", expected, threads,
                  on.called_back.load());
  return Status();
}

Finding called_at_once(Subject& subject, const AnySlot& any, int threads) {
  SharedHandles on;
  STRIA_RETURN_IF_ERROR(SharedHandles::make(subject, any.with_program, on));
  const Status status = at_once(threads, [&](int thread) -> Status {
    for (int round = 0; round < any.rounds; ++round)
      STRIA_RETURN_IF_ERROR(any.work(on, thread, round));
    return Status();
  });
  if (status.code() == StatusCode::unimplemented)
    return Finding::skip(fmt::format("the plugin has no {}", name_of(any.slot)));
  STRIA_RETURN_IF_ERROR(status);
  return check_sum(on, any, threads);
}

}  // namespace

void add_any_slot_cases(CaseMaker& maker) {
  for (const AnySlot& any : kAnySlots)
    for (const int threads : {2, SharedHandles::kThreads}) {
      Case& c = maker.add(
          'T', fmt::format("any.{}.{}_threads", name_of(any.slot), threads), Level::robust, kAny,
          [&any, threads](Subject& subject) { return called_at_once(subject, any, threads); });
      c.limit = std::chrono::seconds(60);
    }
}

}  // namespace stria::conformance
