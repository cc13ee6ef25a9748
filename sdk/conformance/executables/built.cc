// SPDX-License-Identifier: Apache-2.0
#include "executables/built.h"

#include <algorithm>
#include <cstring>

#include "stria/base/text.h"
#include "stria/hal/boundary/received.h"
#include "suite/case.h"

namespace stria::conformance {

std::string_view name_of_code(stria_code code) {
  return code == STRIA_OK ? "success" : stria::name_of(static_cast<StatusCode>(code));
}

SlotAnswer answer_of(stria_error* error) {
  if (!error) return {};
  SlotAnswer out{error->code, ""};
  if (error->message.data && error->message.size < 4096)
    out.message.assign(error->message.data, error->message.size);
  error->release(error);
  return out;
}

Status expect_code(const SlotAnswer& answer, const std::vector<stria_code>& codes,
                   std::string_view what) {
  if (std::find(codes.begin(), codes.end(), answer.code) != codes.end()) return Status();
  std::string wanted;
  for (const stria_code code : codes)
    wanted += (wanted.empty() ? "" : " or ") + std::string(name_of_code(code));
  return broken("{} gives {}{}{}, not {}", what, name_of_code(answer.code),
                answer.message.empty() ? "" : ": ", hal::one_line(answer.message), wanted);
}

// ---- building

Result<Building> begin_build(const Subject& subject, const Compiler& compiler,
                             std::string_view stripe, std::span<stria_event* const> waits,
                             std::string_view options) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(stripe);
  params.options = hal::to_c(options);
  stria_library* library = nullptr;
  stria_event* done = nullptr;
  STRIA_SLOT(subject, compiler, build, compiler.get(), &params, waits.data(), waits.size(),
             &library, &done);
  if (!library || !done)
    return broken_rule(rule_of(Slot::compiler_build),
                       "compiler.build says that it succeeded and gives no {}",
                       library ? "event" : "library");
  return Building{Library(library, subject.tables().library.release),
                  Event(done, subject.tables().event.release, Slot::compiler_build)};
}

Result<std::vector<hal::KernelInfo>> kernels_of(const Subject& subject, const Library& library) {
  hal::Received<hal::KernelInfo> got;
  STRIA_SLOT(subject, library, kernels, library.get(),
             hal::Received<hal::KernelInfo>::sink<stria_kernel_info>, &got);
  STRIA_RETURN_IF_ERROR(got.fault.with_context("library.kernels"));
  return std::move(got.items);
}

Result<Kernel> prepare(const Subject& subject, const Executor& executor, const Library& library,
                       uint64_t index) {
  stria_kernel* kernel = nullptr;
  STRIA_SLOT(subject, executor, prepare, executor.get(), library.get(), index, &kernel);
  if (!kernel)
    return broken_rule(rule_of(Slot::executor_prepare),
                       "executor.prepare says that it succeeded and gives nothing");
  return Kernel(kernel, subject.tables().kernel.release);
}

Result<Built> finish(const Subject& subject, const Compilation& program, Library library) {
  Built out;
  out.library = std::move(library);
  STRIA_ASSIGN(out.infos, kernels_of(subject, out.library));
  STRIA_ASSIGN(out.plan, exec::make_plan(program.device, out.infos));
  STRIA_ASSIGN(out.executor, subject.make_executor());
  for (size_t i = 0; i < out.infos.size(); ++i) {
    STRIA_ASSIGN(Kernel kernel, prepare(subject, out.executor, out.library, i));
    out.kernels.push_back(std::move(kernel));
  }
  return out;
}

Result<Built> build(const Subject& subject, const Compilation& program, std::string_view options) {
  STRIA_ASSIGN(Compiler compiler, subject.make_compiler());
  STRIA_ASSIGN(Building building, begin_build(subject, compiler, program.device_text, {}, options));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done).with_context("the build"));
  STRIA_ASSIGN(Built out, finish(subject, program, std::move(building.library)));
  out.compiler = std::move(compiler);
  return out;
}

// ---- launches

Status Launches::add(const Subject& subject, const Built& built, const Spots& spots,
                     const std::vector<uint32_t>& after) {
  const exec::Plan& plan = built.plan;
  const auto arena_of = [&](uint64_t bytes) -> Result<stria_buffer*> {
    STRIA_ASSIGN(Buffer arena, subject.allocate(bytes));
    arenas_.push_back(std::move(arena));
    return arenas_.back().get();
  };
  std::vector<uint32_t> before = after;
  stria_buffer* derived = nullptr;
  if (plan.derived_bytes > 0) {
    STRIA_ASSIGN(derived, arena_of(plan.derived_bytes));
  }
  for (const exec::PlannedPart* part : {&plan.prologue, &plan.main}) {
    stria_buffer* arena = nullptr;
    if (part->arena_bytes > 0) {
      STRIA_ASSIGN(arena, arena_of(part->arena_bytes));
    }
    const auto first = static_cast<uint32_t>(launches_.size());
    for (const exec::PlannedKernel& kernel : part->kernels) {
      Launch launch;
      launch.launch.size = sizeof launch.launch;
      launch.launch.kernel = built.kernels[kernel.library_index].get();
      for (const exec::PlannedArgument& planned : kernel.arguments) {
        const exec::PlannedTensor& tensor = plan.tensors[planned.tensor];
        Spot spot;
        if (tensor.role == exec::TensorRole::temporary)
          spot = {arena, tensor.offset};
        else if (tensor.role == exec::TensorRole::derived)
          spot = {derived, tensor.offset};
        else if (const auto it = spots.find(tensor.name); it != spots.end())
          spot = it->second;
        else
          return internal_error("the tensor '{}' has no place", tensor.name);
        stria_argument argument{};
        argument.size = sizeof argument;
        argument.buffer = spot.buffer;
        argument.offset = spot.offset + planned.offset;
        launch.arguments.push_back(argument);
      }
      for (const uint32_t position : kernel.after) launch.after.push_back(first + position);
      if (kernel.after.empty()) launch.after = before;
      launches_.push_back(std::move(launch));
    }
    // Main waits for all of the prologue.
    if (first < launches_.size() && part == &plan.prologue) {
      before.clear();
      for (uint32_t n = first; n < launches_.size(); ++n) before.push_back(n);
    }
  }
  return Status();
}

std::vector<const stria_launch*> Launches::list() {
  std::vector<const stria_launch*> out;
  for (Launch& launch : launches_) {
    launch.pointers.clear();
    for (const stria_argument& argument : launch.arguments) launch.pointers.push_back(&argument);
    launch.launch.arguments = launch.pointers.data();
    launch.launch.argument_count = launch.pointers.size();
    launch.launch.after = launch.after.data();
    launch.launch.after_count = launch.after.size();
    out.push_back(&launch.launch);
  }
  return out;
}

void Launches::overwrite() {
  for (Launch& launch : launches_) {
    for (stria_argument& argument : launch.arguments) {
      argument.buffer = nullptr;
      argument.offset = UINT64_MAX;
    }
    std::fill(launch.pointers.begin(), launch.pointers.end(), nullptr);
    std::fill(launch.after.begin(), launch.after.end(), UINT32_MAX);
    std::memset(static_cast<void*>(&launch.launch), 0xff, sizeof launch.launch);
  }
}

Result<Event> submit(const Subject& subject, const Executor& executor, Launches& launches,
                     std::span<stria_event* const> waits, std::vector<Event>* each) {
  const std::vector<const stria_launch*> list = launches.list();
  std::vector<stria_event*> events(list.size(), nullptr);
  stria_event* done = nullptr;
  STRIA_SLOT(subject, executor, submit, executor.get(), list.data(), list.size(), waits.data(),
             waits.size(), each ? events.data() : nullptr, &done);
  if (!done)
    return broken_rule(rule_of(Slot::executor_submit),
                       "executor.submit says that it succeeded and gives nothing");
  Event out(done, subject.tables().event.release, Slot::executor_submit);
  if (each)
    for (stria_event* event : events) {
      if (!event) return broken("executor.submit gives no event for each of its launches");
      each->push_back(Event(event, subject.tables().event.release, Slot::executor_submit));
    }
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).flush(executor));
  return out;
}

Result<Event> run_each(const Subject& subject, Launches& launches,
                       std::span<stria_event* const> waits) {
  Event last;
  for (const stria_launch* launch : launches.list()) {
    stria_event* const before[] = {last.get()};
    stria_event* done = nullptr;
    const std::span<stria_event* const> now = last ? std::span(before) : waits;
    STRIA_SLOT(subject, kernel, run, launch->kernel, launch->arguments, launch->argument_count,
               now.data(), now.size(), &done);
    if (!done)
      return broken_rule(rule_of(Slot::kernel_run),
                         "kernel.run says that it succeeded and gives nothing");
    last = Event(done, subject.tables().event.release, Slot::kernel_run);
  }
  return last;
}

}  // namespace stria::conformance
