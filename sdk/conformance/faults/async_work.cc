// SPDX-License-Identifier: Apache-2.0
#include "faults/async_work.h"

#include <cstring>

#include "suite/case.h"

namespace stria::conformance {

const std::vector<Slot>& AsyncWork::slots() {
  static const std::vector<Slot> all = {Slot::compiler_build,     Slot::executor_submit,
                                        Slot::executor_copy,      Slot::executor_fill,
                                        Slot::kernel_run,         Slot::buffer_map_current,
                                        Slot::buffer_map_discard, Slot::buffer_map_read};
  return all;
}

Status AsyncWork::make(Subject& subject, Slot slot, AsyncWork& out) {
  out.slot_ = slot;
  out.work_.emplace(subject);
  const DeviceWork& work = *out.work_;
  STRIA_ASSIGN(out.executor_, work.executor());
  STRIA_ASSIGN(out.source_, work.buffer(pattern(kBytes, 91)));
  STRIA_ASSIGN(out.target_, work.buffer(pattern(kBytes, 92)));
  if (slot == Slot::compiler_build) {
    STRIA_ASSIGN(out.program_, SmallProgram::of(subject));
    STRIA_ASSIGN(out.compiler_, work.compiler());
  }
  if (slot == Slot::executor_submit || slot == Slot::kernel_run) {
    STRIA_ASSIGN(out.program_, SmallProgram::of(subject));
    STRIA_ASSIGN(out.loaded_, load(work, *out.program_));
    STRIA_ASSIGN(out.tensors_, SmallTensors::make(work, *out.program_, 93));
    if (slot == Slot::kernel_run && out.loaded_.plan.main.kernels.size() != 1)
      return unsupported("R = A + B has {} kernels on this device, not one",
                         out.loaded_.plan.main.kernels.size());
  }
  return Status();
}

Result<Event> AsyncWork::begin_build(std::span<stria_event* const> waits) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(program_->stripe());
  params.options = hal::to_c("{}");
  stria_library* library = nullptr;
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(
      Subject::failure(slot_, work_->tables().compiler.build(compiler_.get(), &params, waits.data(),
                                                             waits.size(), &library, &done)));
  if (!library || !done)
    return broken_rule(rule_of(Slot::compiler_build),
                       "compiler.build says that it succeeded and gives nothing");
  library_ = Library(library, work_->tables().library.release);
  return Event(done, work_->tables().event.release, slot_);
}

Result<Event> AsyncWork::begin_run(std::span<stria_event* const> waits) {
  if (slot_ == Slot::executor_submit) return start(*work_, loaded_, tensors_, waits);
  STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(*work_, loaded_, tensors_));
  const stria_launch& launch = *launches.list()[0];
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      slot_, work_->tables().kernel.run(launch.kernel, launch.arguments, launch.argument_count,
                                        waits.data(), waits.size(), &done)));
  if (!done)
    return broken_rule(rule_of(Slot::kernel_run),
                       "kernel.run says that it succeeded and gives nothing");
  Event out(done, work_->tables().event.release, slot_);
  STRIA_RETURN_IF_ERROR(work_->flush(loaded_.executor));
  return out;
}

Result<Event> AsyncWork::begin(std::span<stria_event* const> waits) {
  switch (slot_) {
    case Slot::compiler_build: return begin_build(waits);
    case Slot::executor_submit:
    case Slot::kernel_run: return begin_run(waits);
    case Slot::executor_copy: return work_->copy(executor_, source_, 0, target_, 0, kBytes, waits);
    case Slot::executor_fill:
      return work_->fill(executor_, target_, 0, kBytes, Bytes(2, std::byte{0x77}), waits);
    default: {
      STRIA_ASSIGN(DeviceWork::Mapping mapping, work_->map(slot_, source_, 0, kBytes, waits));
      mapped_ = mapping.memory;
      is_mapped_ = true;
      return std::move(mapping.ready);
    }
  }
}

Status AsyncWork::unmap() {
  if (!is_mapped_) return Status();
  is_mapped_ = false;
  STRIA_ASSIGN(const Event unmapped, work_->unmap(source_, mapped_));
  return work_->wait_for_end(unmapped);
}

Status AsyncWork::check_not_done(StatusCode code) {
  switch (slot_) {
    case Slot::compiler_build: {
      const Status status = kernels_of(*work_, library_).status();
      if (status.code() != code)
        return broken("library.kernels of a build that failed with {} says '{}'", name_of(code),
                      status.to_string());
      return Status();
    }
    case Slot::executor_submit:
    case Slot::kernel_run:
      return work_->holds(tensors_.r, Bytes(program_->bytes(), std::byte{0xa5}),
                          "the output of a run that was not to be done");
    case Slot::executor_copy:
    case Slot::executor_fill:
      return work_->holds(target_, pattern(kBytes, 92),
                          "the target of work that was not to be done");
    default:
      STRIA_RETURN_IF_ERROR(unmap());
      return work_->holds(source_, pattern(kBytes, 91), "a buffer whose mapping failed");
  }
}

Status AsyncWork::check_done() {
  switch (slot_) {
    case Slot::compiler_build: {
      STRIA_ASSIGN(const auto kernels, kernels_of(*work_, library_));
      return kernels.empty() ? broken("library.kernels lists nothing") : Status();
    }
    case Slot::executor_submit:
    case Slot::kernel_run: return tensors_.check(*work_, *program_, 93);
    case Slot::executor_copy: return work_->holds(target_, pattern(kBytes, 91), "after a copy");
    case Slot::executor_fill:
      return work_->holds(target_, Bytes(kBytes, std::byte{0x77}), "after a fill");
    case Slot::buffer_map_discard: {
      const Bytes contents = pattern(kBytes, 94);
      std::memcpy(mapped_, contents.data(), contents.size());
      STRIA_RETURN_IF_ERROR(unmap());
      return work_->holds(source_, contents, "after a mapping");
    }
    default: {
      const std::string text = difference(std::span(static_cast<const std::byte*>(mapped_), kBytes),
                                          pattern(kBytes, 91));
      STRIA_RETURN_IF_ERROR(unmap());
      return text.empty() ? Status() : broken("in mapped memory {}", text);
    }
  }
}

}  // namespace stria::conformance
