// SPDX-License-Identifier: Apache-2.0
#include "threads/slot_calls.h"

#include <cstring>

#include "suite/case.h"

namespace stria::conformance {

const std::vector<Slot>& SlotCalls::all() {
  static const std::vector<Slot> slots = {Slot::device_info,
                                          Slot::device_create_compiler,
                                          Slot::device_create_executor,
                                          Slot::device_create_event,
                                          Slot::compiler_build,
                                          Slot::compiler_release,
                                          Slot::library_kernels,
                                          Slot::library_release,
                                          Slot::executor_submit,
                                          Slot::executor_copy,
                                          Slot::executor_fill,
                                          Slot::executor_flush,
                                          Slot::executor_release,
                                          Slot::kernel_run,
                                          Slot::kernel_release,
                                          Slot::buffer_map_current,
                                          Slot::buffer_map_discard,
                                          Slot::buffer_map_read,
                                          Slot::buffer_unmap,
                                          Slot::buffer_release,
                                          Slot::event_query,
                                          Slot::event_status,
                                          Slot::event_duration_ns,
                                          Slot::event_on_done,
                                          Slot::event_signal,
                                          Slot::event_release,
                                          Slot::event_end};
  return slots;
}

namespace {

bool needs_program(Slot slot) {
  return slot == Slot::compiler_build || slot == Slot::library_kernels ||
         slot == Slot::library_release || slot == Slot::executor_submit ||
         slot == Slot::kernel_run || slot == Slot::kernel_release;
}

}  // namespace

Status SlotCalls::make(Subject& subject, Slot slot, SlotCalls& out) {
  out.slot_ = slot;
  out.work_.emplace(subject);
  out.device_id_ = subject.device_info().id;
  const DeviceWork& work = *out.work_;
  STRIA_ASSIGN(out.executor_, work.executor());
  STRIA_ASSIGN(out.spare_executor_, work.executor());
  STRIA_ASSIGN(out.compiler_, work.compiler());
  STRIA_ASSIGN(out.source_, work.buffer(pattern(kBytes, 41)));
  STRIA_ASSIGN(out.target_, work.buffer(pattern(kBytes, 42)));
  STRIA_ASSIGN(out.spare_event_, work.host_event());
  STRIA_ASSIGN(out.done_, work.fill(out.executor_, out.source_, 0, 0, Bytes(1)));
  STRIA_RETURN_IF_ERROR(work.wait(out.done_));
  if (slot == Slot::buffer_unmap) {
    STRIA_ASSIGN(out.mapping_, work.map(Slot::buffer_map_current, out.source_, 0, kBytes));
    STRIA_RETURN_IF_ERROR(work.wait(out.mapping_.ready));
    const Bytes bytes = pattern(kBytes, 43);
    std::memcpy(out.mapping_.memory, bytes.data(), bytes.size());
  }
  if (!needs_program(slot)) return Status();
  STRIA_ASSIGN(out.program_, SmallProgram::of(subject));
  out.loaded_.emplace();
  STRIA_ASSIGN(*out.loaded_, load(work, *out.program_));
  out.tensors_.emplace();
  STRIA_ASSIGN(*out.tensors_, SmallTensors::make(work, *out.program_, 44));
  out.launches_.emplace();
  STRIA_ASSIGN(*out.launches_, SmallLaunches::make(work, *out.loaded_, *out.tensors_));
  out.library_ = std::move(out.loaded_->library);
  if (slot == Slot::kernel_run && out.launches_->count() != 1)
    return unsupported("R = A + B has {} kernels on this device, not one", out.launches_->count());
  return Status();
}

Status SlotCalls::call(stria_event* wait) {
  stria_event* const list[] = {wait};
  const std::span<stria_event* const> waits(list, wait ? 1 : 0);
  if (slot_ < Slot::compiler_build) return call_device(waits);
  if (slot_ < Slot::kernel_run) return call_compiler(waits);
  if (slot_ < Slot::buffer_map_current) return call_executor(waits);
  // map_read stands last, as it came last.
  if (slot_ < Slot::event_wait) return call_buffer(waits);
  return call_event(wait);
}

Status SlotCalls::call_device(std::span<stria_event* const>) {
  const hal::Tables& tables = work_->tables();
  switch (slot_) {
    case Slot::device_info: {
      struct Seen {
        int calls = 0;
        std::string id;
      } seen;
      STRIA_RETURN_IF_ERROR(
          Subject::failure(slot_, tables.device.info(
                                      work_->device(),
                                      [](void* state, const stria_device_info* info) {
                                        auto* to = static_cast<Seen*>(state);
                                        ++to->calls;
                                        to->id = hal::view_of(info->id);
                                      },
                                      &seen)));
      if (seen.calls != 1 || seen.id != device_id_)
        return broken("device.info calls the sink {} times, for '{}'", seen.calls, seen.id);
      return Status();
    }
    case Slot::device_create_compiler: {
      STRIA_ASSIGN(made_compiler_, work_->compiler());
      return Status();
    }
    case Slot::device_create_executor: {
      STRIA_ASSIGN(made_executor_, work_->executor());
      return Status();
    }
    default: {
      STRIA_ASSIGN(made_event_, work_->host_event());
      return Status();
    }
  }
}

Status SlotCalls::call_compiler(std::span<stria_event* const> waits) {
  switch (slot_) {
    case Slot::compiler_build: {
      stria_build_params params{};
      params.size = sizeof params;
      params.stripe = hal::to_c(program_->stripe());
      params.options = hal::to_c("{}");
      stria_library* library = nullptr;
      stria_event* done = nullptr;
      STRIA_RETURN_IF_ERROR(Subject::failure(
          slot_, work_->tables().compiler.build(compiler_.get(), &params, waits.data(),
                                                waits.size(), &library, &done)));
      library_ = Library(library, work_->tables().library.release);
      started_ = Event(done, work_->tables().event.release, slot_);
      return Status();
    }
    case Slot::compiler_release: compiler_.reset(); return Status();
    case Slot::library_release: library_.reset(); return Status();
    default: {
      STRIA_ASSIGN(const auto kernels, kernels_of(*work_, library_));
      return kernels.empty() ? broken("library.kernels lists nothing") : Status();
    }
  }
}

Status SlotCalls::call_executor(std::span<stria_event* const> waits) {
  const hal::Tables& tables = work_->tables();
  stria_event* done = nullptr;
  stria_error* error = nullptr;
  const Bytes mark = pattern(4, 45);
  switch (slot_) {
    case Slot::kernel_run: {
      const stria_launch& launch = *launches_->list()[0];
      error = tables.kernel.run(launch.kernel, launch.arguments, launch.argument_count,
                                waits.data(), waits.size(), &done);
      break;
    }
    case Slot::executor_submit:
      error = tables.executor.submit(loaded_->executor.get(), launches_->list(), launches_->count(),
                                     waits.data(), waits.size(), nullptr, &done);
      break;
    case Slot::executor_copy:
      error = tables.executor.copy(executor_.get(), source_.get(), 0, target_.get(), 0, kBytes,
                                   waits.data(), waits.size(), &done);
      break;
    case Slot::executor_fill:
      error = tables.executor.fill(executor_.get(), target_.get(), 0, kBytes, mark.data(),
                                   mark.size(), waits.data(), waits.size(), &done);
      break;
    case Slot::kernel_release: loaded_->kernels.clear(); return Status();
    case Slot::executor_release: spare_executor_.reset(); return Status();
    default: return work_->flush(executor_);
  }
  STRIA_RETURN_IF_ERROR(Subject::failure(slot_, error));
  if (!done)
    return broken_rule(rule_of(slot_), "{} says that it succeeded and gives nothing",
                       name_of(slot_));
  started_ = Event(done, tables.event.release, slot_);
  return work_->flush(program_ ? loaded_->executor : executor_);
}

Status SlotCalls::call_buffer(std::span<stria_event* const> waits) {
  switch (slot_) {
    case Slot::buffer_release: target_.reset(); return Status();
    case Slot::buffer_unmap: {
      STRIA_ASSIGN(started_, work_->unmap(source_, mapping_.memory));
      return Status();
    }
    default: {
      STRIA_ASSIGN(mapping_, work_->map(slot_, source_, 0, kBytes, waits));
      return Status();
    }
  }
}

Status SlotCalls::call_event(stria_event* wait) {
  const hal::Tables& tables = work_->tables();
  switch (slot_) {
    case Slot::event_query: {
      STRIA_ASSIGN(const bool done, work_->is_done(done_));
      if (!done) return broken("event.query says of work that was waited for that it is open");
      if (!wait) return Status();
      uint8_t open = 2;
      STRIA_RETURN_IF_ERROR(Subject::failure(slot_, tables.event.query(wait, &open)));
      return open == 0 ? Status() : broken("event.query says {} of an open host event", int{open});
    }
    case Slot::event_status: {
      STRIA_RETURN_IF_ERROR(Subject::failure(slot_, tables.event.status(done_.get())));
      if (!wait) return Status();
      const Status open = Subject::failure(slot_, tables.event.status(wait));
      if (open.code() != StatusCode::failed_precondition)
        return broken("event.status says of an open host event '{}'", open.to_string());
      return Status();
    }
    case Slot::event_duration_ns: {
      uint64_t time = 0;
      STRIA_RETURN_IF_ERROR(Subject::failure(slot_, tables.event.duration_ns(done_.get(), &time)));
      if (!wait) return Status();
      const Status open = Subject::failure(slot_, tables.event.duration_ns(wait, &time));
      if (open.code() != StatusCode::failed_precondition)
        return broken("event.duration_ns says of an open host event '{}'", open.to_string());
      return Status();
    }
    case Slot::event_on_done:
      STRIA_RETURN_IF_ERROR(Subject::failure(slot_, tables.event.on_done(
                                                        done_.get(),
                                                        [](void* state, const stria_error* error) {
                                                          *static_cast<int*>(state) +=
                                                              error ? 1000 : 1;
                                                        },
                                                        &called_back_)));
      if (called_back_ != 1)
        return broken("event.on_done of a done event called back {} times, not once", called_back_);
      return Status();
    case Slot::event_signal: return work_->signal(spare_event_);
    case Slot::event_release: spare_event_.reset(); return Status();
    default: {
      STRIA_ASSIGN(made_event_, work_->end_of(done_));
      return Status();
    }
  }
}

Status SlotCalls::finish() {
  if (started_) STRIA_RETURN_IF_ERROR(work_->wait(started_));
  switch (slot_) {
    case Slot::device_create_executor: {
      STRIA_ASSIGN(const Event filled,
                   work_->fill(made_executor_, target_, 0, kBytes, Bytes(1, std::byte{9})));
      STRIA_RETURN_IF_ERROR(work_->wait(filled));
      return work_->holds(target_, Bytes(kBytes, std::byte{9}), "after a fill");
    }
    case Slot::device_create_event:
      STRIA_RETURN_IF_ERROR(work_->signal(made_event_));
      return work_->wait(made_event_);
    case Slot::event_end: return work_->wait(made_event_);
    case Slot::event_signal: return work_->wait(spare_event_);
    case Slot::compiler_build: {
      STRIA_ASSIGN(const auto kernels, kernels_of(*work_, library_));
      return kernels.empty() ? broken("library.kernels lists nothing") : Status();
    }
    case Slot::executor_submit:
    case Slot::kernel_run: return tensors_->check(*work_, *program_, 44);
    case Slot::executor_copy: return work_->holds(target_, pattern(kBytes, 41), "after a copy");
    case Slot::executor_fill: {
      Bytes expected;
      for (const Bytes mark = pattern(4, 45); expected.size() < kBytes;)
        expected.insert(expected.end(), mark.begin(), mark.end());
      return work_->holds(target_, expected, "after a fill");
    }
    case Slot::buffer_unmap: return work_->holds(source_, pattern(kBytes, 43), "after an unmap");
    case Slot::buffer_map_current:
    case Slot::buffer_map_discard:
    case Slot::buffer_map_read: {
      STRIA_RETURN_IF_ERROR(work_->wait(mapping_.ready));
      const Bytes expected = pattern(kBytes, slot_ == Slot::buffer_map_discard ? 46 : 41);
      if (slot_ == Slot::buffer_map_discard)
        std::memcpy(mapping_.memory, expected.data(), expected.size());
      const std::string text =
          difference(std::span(static_cast<const std::byte*>(mapping_.memory), kBytes), expected);
      STRIA_ASSIGN(const Event unmapped, work_->unmap(source_, mapping_.memory));
      if (!text.empty()) return broken("in mapped memory {}", text);
      STRIA_RETURN_IF_ERROR(work_->wait(unmapped));
      return work_->holds(source_, expected, "after a mapping");
    }
    default: return Status();
  }
}

}  // namespace stria::conformance
