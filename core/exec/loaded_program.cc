// SPDX-License-Identifier: Apache-2.0
#include "stria/exec/loaded_program.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>

#include "stria/hal/boundary/error.h"

namespace stria::exec {
namespace {

// Buffers of one size for runs: each goes to the next run once its last one is done, so that as
// many are alive as runs have been under way at once.
class ArenaPool final : public Reserve {
 public:
  ArenaPool(DeviceMemory memory, uint64_t bytes, std::string program)
      : memory_(std::move(memory)), bytes_(bytes), program_(std::move(program)) {}

  struct Arena {
    hal::Buffer buffer;
    hal::Event until;  // who has it now is done
  };
  // One that is free or new; if the device has no memory for another, the one that is in use the
  // longest: `waits` gets an event that is done when that use is.
  Result<Arena> take(std::vector<hal::Event>& waits) {
    if (auto free = take_first([](const Arena& arena) { return arena.until.is_done(); }))
      return std::move(*free);
    Result<hal::Buffer> made =
        memory_.allocate(bytes_, fmt::format("temporaries of '{}'", program_),
                         fmt::format("a run of '{}'", program_));
    if (made.ok()) return Arena{std::move(*made), {}};
    if (made.status().code() != StatusCode::out_of_memory) return made.status();
    auto busy = take_first([](const Arena&) { return true; });
    if (!busy) return made.status();
    Result<hal::Event> end = busy->until.end();
    if (end.ok()) {
      waits.push_back(std::move(*end));
      return std::move(*busy);
    }
    give(std::move(*busy));
    return end.status();
  }
  void give(Arena arena) {
    std::lock_guard lock(mutex_);
    arenas_.push_back(std::move(arena));
  }
  bool release() override {
    std::vector<Arena> idle;
    std::lock_guard lock(mutex_);
    auto first = std::stable_partition(arenas_.begin(), arenas_.end(),
                                       [](const Arena& used) { return !used.until.is_done(); });
    idle.assign(std::move_iterator(first), std::move_iterator(arenas_.end()));
    arenas_.erase(first, arenas_.end());
    return !idle.empty();
  }

 private:
  template <typename Fits>
  std::optional<Arena> take_first(Fits fits) {
    std::lock_guard lock(mutex_);
    auto at = std::find_if(arenas_.begin(), arenas_.end(), fits);
    if (at == arenas_.end()) return std::nullopt;
    std::optional<Arena> taken(std::move(*at));
    arenas_.erase(at);
    return taken;
  }
  const DeviceMemory memory_;
  const uint64_t bytes_;
  const std::string program_;
  std::mutex mutex_;
  std::vector<Arena> arenas_;  // guarded by mutex_; the one in use the longest first
};

Status check_arguments(const Plan& plan, const std::vector<size_t>& tensors,
                       std::span<const hal::Argument> arguments, std::string_view what) {
  if (arguments.size() != tensors.size())
    return invalid_argument("'{}' has {} {}, got {}", plan.program, tensors.size(), what,
                            arguments.size());
  return Status();
}

// Launches of one piece of work: their positions are 32-bit numbers, and all are listed at once.
constexpr uint64_t kMostInARow = 1 << 20;

// The launches so many times, each time after all of the time before.
void repeat(std::vector<hal::Launch>& launches, uint32_t times) {
  const auto count = static_cast<uint32_t>(launches.size());
  launches.reserve(static_cast<size_t>(count) * times);
  for (uint32_t n = count; n < count * times; ++n) {
    hal::Launch launch = launches[n - count];
    if (n < 2 * count && launch.after.empty()) {
      for (uint32_t k = 0; k < count; ++k) launch.after.push_back(k);
    } else {
      for (uint32_t& earlier : launch.after) earlier += count;
    }
    launches.push_back(std::move(launch));
  }
}

}  // namespace

struct RunNames {
  std::string program;
  std::string device;
  std::vector<std::string> kernels;
  std::vector<std::string> interpreted;  // of each kernel, why, or ""
};

struct LoadedProgram::State {
  DeviceMemory memory;
  hal::Executor executor;
  hal::Library library;
  Plan plan;
  std::vector<hal::Kernel> kernels;  // by library index
  std::shared_ptr<ArenaPool> main_arenas;
  std::shared_ptr<const RunNames> names;

  // The launches of one part. `memory` gives each tensor's place.
  std::vector<hal::Launch> launches(const PlannedPart& part,
                                    const std::vector<hal::Argument>& memory) const {
    std::vector<hal::Launch> out;
    out.reserve(part.kernels.size());
    for (const PlannedKernel& kernel : part.kernels) {
      hal::Launch launch{kernels[kernel.library_index], {}, kernel.after};
      launch.arguments.reserve(kernel.arguments.size());
      for (const PlannedArgument& argument : kernel.arguments) {
        hal::Argument place = memory[argument.tensor];
        place.offset += argument.offset;
        launch.arguments.push_back(std::move(place));
      }
      out.push_back(std::move(launch));
    }
    return out;
  }

  // Points the tensors of `role` into `arena`.
  void place(TensorRole role, const hal::Buffer& arena, std::vector<hal::Argument>& memory) const {
    for (size_t t = 0; t < plan.tensors.size(); ++t)
      if (plan.tensors[t].role == role) memory[t] = {arena, plan.tensors[t].offset};
  }
};

struct Binding::State {
  std::shared_ptr<const LoadedProgram::State> program;
  hal::Buffer derived;
  hal::Event ready;  // the prologue is done
};

Status Run::wait() const {
  Status outcome = done_.wait();
  if (outcome.ok()) return outcome;
  // No kernel has failed if the wait was over first.
  if (!done_.is_done())
    return outcome.with_context(fmt::format("'{}' on {}", names_->program, names_->device));
  if (prologue_.valid() && !prologue_.status().ok())
    return outcome.with_context(
        fmt::format("the prologue of '{}' on {}", names_->program, names_->device));
  // A failure travels to later kernels only, so the first failed one is where it happened.
  for (size_t k = 0; k < each_.size(); ++k) {
    Status status = each_[k].status();
    if (status.ok()) continue;
    return status.with_context(fmt::format("kernel '{}' ({} of {}) of '{}' on {}",
                                           names_->kernels[k % names_->kernels.size()], k + 1,
                                           each_.size(), names_->program, names_->device));
  }
  return outcome.with_context(fmt::format("'{}' on {}", names_->program, names_->device));
}

Result<std::vector<KernelTime>> Run::times() const {
  if (!done_.is_done())
    return make_error(StatusCode::failed_precondition, "the run of '{}' is not done yet",
                      names_->program);
  std::vector<KernelTime> out;
  for (size_t k = 0; k < each_.size(); ++k) {
    STRIA_ASSIGN(uint64_t nanoseconds, each_[k].duration_ns());
    const size_t of_run = k % names_->kernels.size();
    out.push_back({names_->kernels[of_run], of_run, nanoseconds, names_->interpreted[of_run]});
  }
  return out;
}

Result<LoadedProgram> LoadedProgram::load(const DeviceMemory& memory,
                                          const stripe::Program& program, std::string_view text,
                                          std::string_view options) {
  auto state = std::make_shared<State>();
  state->memory = memory;
  const hal::Device& device = memory.device();
  STRIA_ASSIGN(hal::Compiler compiler, device.create_compiler());
  STRIA_ASSIGN(hal::Build build, compiler.build(text, options));
  STRIA_RETURN_IF_ERROR(build.done.wait());
  state->library = build.library;
  STRIA_ASSIGN(std::vector<hal::KernelInfo> infos, state->library.kernels());
  Result<Plan> plan = make_plan(program, infos);
  if (plan.status().code() == hal::kPluginFault)
    return plan.status().with_context(
        fmt::format("plugin {}: library.kernels", device.plugin_id()));
  STRIA_ASSIGN(state->plan, std::move(plan));
  STRIA_ASSIGN(state->executor, device.create_executor());
  for (size_t i = 0; i < infos.size(); ++i) {
    STRIA_ASSIGN(hal::Kernel kernel, state->executor.prepare(state->library, i));
    state->kernels.push_back(std::move(kernel));
  }
  state->main_arenas =
      std::make_shared<ArenaPool>(memory, state->plan.main.arena_bytes, state->plan.program);
  memory.add_reserve(state->main_arenas);
  auto names = std::make_shared<RunNames>();
  names->program = state->plan.program;
  names->device = device.plugin_id() + ":" + device.info().id;
  for (const PlannedKernel& kernel : state->plan.main.kernels) {
    names->kernels.push_back(kernel.name);
    names->interpreted.push_back(kernel.interpreted);
  }
  state->names = std::move(names);
  LoadedProgram loaded;
  loaded.state_ = std::move(state);
  return loaded;
}

const Plan& LoadedProgram::plan() const { return state_->plan; }
const hal::Library& LoadedProgram::library() const { return state_->library; }

Result<Binding> LoadedProgram::bind(std::span<const hal::Argument> inputs, hal::Waits waits) const {
  const Plan& plan = state_->plan;
  STRIA_RETURN_IF_ERROR(check_arguments(plan, plan.inputs, inputs, "inputs"));
  auto binding = std::make_shared<Binding::State>();
  binding->program = state_;
  if (!plan.prologue.kernels.empty()) {
    std::vector<hal::Argument> memory(plan.tensors.size());
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (plan.tensors[plan.inputs[i]].prologue_reads) memory[plan.inputs[i]] = inputs[i];
    STRIA_ASSIGN(binding->derived, state_->memory.allocate(
                                       plan.derived_bytes,
                                       fmt::format("what '{}' made of its constants", plan.program),
                                       fmt::format("a binding of '{}'", plan.program)));
    STRIA_ASSIGN(hal::Buffer arena,
                 state_->memory.allocate(plan.prologue.arena_bytes,
                                         fmt::format("temporaries of '{}'", plan.program),
                                         fmt::format("the prologue of '{}'", plan.program)));
    // Main's temporaries get a wrong place here, but no launch of the prologue names them.
    state_->place(TensorRole::temporary, arena, memory);
    state_->place(TensorRole::derived, binding->derived, memory);
    STRIA_ASSIGN(binding->ready,
                 state_->executor.submit(state_->launches(plan.prologue, memory), waits));
  }
  Binding out;
  out.state_ = std::move(binding);
  return out;
}

Status LoadedProgram::run_in_steps(std::span<const hal::Argument> inputs,
                                   std::span<const hal::Argument> outputs, const Look& look) const {
  const Plan& plan = state_->plan;
  STRIA_RETURN_IF_ERROR(check_arguments(plan, plan.inputs, inputs, "inputs"));
  STRIA_RETURN_IF_ERROR(check_arguments(plan, plan.outputs, outputs, "outputs"));
  std::vector<hal::Argument> memory(plan.tensors.size());
  const auto allocate = [&](TensorRole role, uint64_t bytes) -> Status {
    STRIA_ASSIGN(const hal::Buffer arena,
                 state_->memory.allocate(bytes, fmt::format("temporaries of '{}'", plan.program),
                                         fmt::format("a run of '{}' in steps", plan.program)));
    state_->place(role, arena, memory);
    return Status();
  };
  for (size_t i = 0; i < inputs.size(); ++i) memory[plan.inputs[i]] = inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) memory[plan.outputs[i]] = outputs[i];
  STRIA_RETURN_IF_ERROR(allocate(TensorRole::derived, plan.derived_bytes));
  for (const hal::ProgramPart part : {hal::ProgramPart::prologue, hal::ProgramPart::main}) {
    const PlannedPart& planned = part == hal::ProgramPart::main ? plan.main : plan.prologue;
    // The other part's temporaries get a wrong place here, but no kernel of this one names them.
    STRIA_RETURN_IF_ERROR(allocate(TensorRole::temporary, planned.arena_bytes));
    const std::vector<hal::Launch> launches = state_->launches(planned, memory);
    for (size_t k = 0; k < launches.size(); ++k) {
      const KernelStep step{part, k, memory};
      STRIA_RETURN_IF_ERROR(look(step, false));
      STRIA_ASSIGN(const hal::Event done, launches[k].kernel.run(launches[k].arguments));
      if (const Status ended = done.wait(); !ended.ok())
        return ended.with_context(fmt::format("kernel '{}' ({} of {}) of '{}' on {}",
                                              planned.kernels[k].name, k + 1, launches.size(),
                                              plan.program, state_->names->device));
      STRIA_RETURN_IF_ERROR(look(step, true));
    }
  }
  return Status();
}

const hal::Event& Binding::ready() const { return state_->ready; }

Result<Run> Binding::run(std::span<const hal::Argument> inputs,
                         std::span<const hal::Argument> outputs, hal::Waits waits,
                         const RunOptions& options) const {
  const LoadedProgram::State& program = *state_->program;
  const Plan& plan = program.plan;
  STRIA_RETURN_IF_ERROR(check_arguments(plan, plan.inputs, inputs, "inputs"));
  STRIA_RETURN_IF_ERROR(check_arguments(plan, plan.outputs, outputs, "outputs"));
  if (uint64_t{options.in_a_row} * std::max<size_t>(plan.main.kernels.size(), 1) > kMostInARow)
    return invalid_argument("'{}' has {} kernels; {} runs in a row would be more than {} launches",
                            plan.program, plan.main.kernels.size(), options.in_a_row, kMostInARow);
  std::vector<hal::Argument> memory(plan.tensors.size());
  for (size_t i = 0; i < inputs.size(); ++i) memory[plan.inputs[i]] = inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) memory[plan.outputs[i]] = outputs[i];
  std::vector<hal::Event> all_waits(waits.begin(), waits.end());
  ArenaPool::Arena arena;
  if (plan.main.arena_bytes > 0) {
    STRIA_ASSIGN(arena, program.main_arenas->take(all_waits));
    program.place(TensorRole::temporary, arena.buffer, memory);
  }
  program.place(TensorRole::derived, state_->derived, memory);
  if (state_->ready.valid()) all_waits.push_back(state_->ready);
  Run run;
  run.names_ = program.names;
  run.prologue_ = state_->ready;
  std::vector<hal::Launch> launches = program.launches(plan.main, memory);
  repeat(launches, options.in_a_row);
  auto done =
      program.executor.submit(launches, all_waits, options.watch_kernels ? &run.each_ : nullptr);
  if (arena.buffer.valid()) {
    if (done.ok()) arena.until = *done;
    program.main_arenas->give(std::move(arena));
  }
  if (!done.ok())
    return done.status().with_context(
        fmt::format("'{}' on {}", program.names->program, program.names->device));
  run.done_ = std::move(*done);
  return run;
}

}  // namespace stria::exec
