// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/program_runner.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/quarantine_file.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/run_failure.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeptHandOvers = 100;

// Of a program that comes from lower_program, as its executables have them.
std::vector<TensorInfo> infos_of(const Compilation& generic, const std::vector<tile::TensorId>& ids,
                                 bool without_values) {
  std::vector<TensorInfo> out;
  const ProgramBinding* const binding = generic.binding.get();
  for (const tile::TensorId id : ids) {
    const tile::BoundTensor& tensor = generic.bound.tensors[id];
    if (binding != nullptr && without_values && binding->values.contains(tensor.name)) continue;
    out.push_back({binding != nullptr ? binding->shown(tensor.name) : tensor.name,
                   tensor.outside_type(), tensor.sizes});
  }
  return out;
}

bool hangs(const Status& status) { return status.code() == StatusCode::deadline_exceeded; }

struct Tensors {
  std::vector<Tensor> in, out;
};

Status run_there(const Device& device, const Executable& executable,
                 std::span<const HostTensor> inputs, std::vector<HostTensor>& results,
                 RunnerNotes& notes) {
  const auto tensors = std::make_shared<Tensors>();
  notes.made = tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(executable.inputs()[i]));
    tensors->in.push_back(tensor);
    STRIA_RETURN_IF_ERROR(tensor.write(inputs[i].bytes()));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    tensors->out.push_back(std::move(tensor));
  }
  STRIA_ASSIGN(const Event done, executable.run(tensors->in, tensors->out));
  // Before anything is read: to read what never comes would wait again.
  STRIA_RETURN_IF_ERROR(done.wait());
  for (const Tensor& tensor : tensors->out) {
    STRIA_ASSIGN(HostTensor result, tensor.read());
    results.push_back(std::move(result));
  }
  return Status();
}

}  // namespace

std::string_view name_of(RunStage stage) {
  switch (stage) {
    case RunStage::open: return "opening";
    case RunStage::compile: return "compiling";
    case RunStage::run: return "running";
  }
  return "";
}

struct [[gnu::visibility("hidden")]] ProgramRunner::State {
  struct Loaded {
    Device device;
    Executable executable;
    double compile_seconds = 0;
  };

  struct Failure {
    RunStage stage = RunStage::run;
    Status why;
    bool is_callers = false;  // hands nothing over
    std::chrono::nanoseconds kept_out{0};
    bool for_good = false;
  };

  // Of one device of the order. All but `opening`, `open` and `info` is guarded by `mutex`.
  struct Slot {
    DeviceInfo info;
    std::mutex opening;                    // one thread opens and compiles, the others wait for it
    Device open;                           // opened before the runner was made; else invalid
    std::shared_ptr<const Loaded> loaded;  // null: not open
    uint64_t failures = 0;                 // in all
    int in_a_row = 0;                      // since a run ended well
    Clock::time_point kept_until;          // no run begins before that; in the past: it may
    Failure last;                          // the last one of `failures`
    bool is_forgiven = false;              // on the disk, since the last failure
  };

  // Chosen for a run. Whoever has waited for another thread to open it sees by the number whether
  // that went wrong.
  struct Choice {
    Slot* slot = nullptr;
    uint64_t failures_before = 0;
  };

  std::optional<Runtime> runtime;  // none: the one device is open already
  DeviceSelector selector;
  Compilation generic;
  RunnerOptions options;
  bool pinned = false;  // a failure is the run's
  // Keeps losses for later processes; none if the runtime's options do not want it.
  std::optional<QuarantineFile> quarantine = QuarantineFile();
  std::vector<std::string> dropped;  // by the selector: "acme:0: it lacks fp64"
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::string> names;  // of the devices, in their order
  std::deque<Slot> slots;          // likewise; the list does not change

  std::mutex mutex;
  uint64_t count = 0;               // guarded by mutex
  std::deque<HandOver> hand_overs;  // likewise

  static std::shared_ptr<State> create(Compilation compilation, const RunnerOptions& options) {
    auto out = std::make_shared<State>();
    out->generic = std::move(compilation);
    out->options = options;
    out->inputs = infos_of(out->generic, out->generic.bound.inputs, true);
    out->outputs = infos_of(out->generic, out->generic.bound.outputs, false);
    return out;
  }
  Status take_order(const Runtime& from, const Selection& selection);

  Status check(std::span<const HostTensor> given) const;
  Status run(const RunnerWork& work);

 private:
  Clock::time_point now() const { return options.clock ? options.clock() : Clock::now(); }
  std::optional<Choice> choose(const std::vector<const Slot*>& tried);
  // Null, with `failure`, if there is none.
  std::shared_ptr<const Loaded> loaded_on(const Choice& choice, const RunnerWork& work,
                                          Failure& failure);
  Result<Loaded> load_on(const Slot& slot, const RunnerWork& work, Failure& failure);
  Status attempt(const Choice& choice, const RunnerWork& work, Failure& failure);
  // Closes the device and keeps it out, unless another run has done so for the same failure.
  void keep_out(Slot& slot, const Loaded* failed, Failure& failure);
  // For later processes.
  void keep_failure(Slot& slot, const Failure& failure, double began);
  void keep_success(Slot& slot);
  void tell(const Slot& failed, const Failure& failure, const Slot& next);
  Status nothing_left(const std::vector<std::pair<std::string, Failure>>& failures);
};

Status ProgramRunner::State::take_order(const Runtime& from, const Selection& selection) {
  runtime = from;
  if (!Inside::keeps_history(from)) quarantine.reset();
  selector = selection.selector;
  pinned = selector.is_pinned();
  for (const DeviceVerdict& verdict : selection.devices)
    // What nobody has meant is no news.
    if (!verdict.kept() && verdict.objections[0].gate != Gate::name) {
      std::vector<std::string> texts;
      for (const Objection& one : verdict.objections) texts.push_back(text_of(one, selector));
      dropped.push_back(fmt::format("{}: {}", verdict.device.selector, join(texts, "; ")));
    }
  for (const size_t at : selection.order) {
    slots.emplace_back().info = selection.devices[at].device;
    names.push_back(selection.devices[at].device.selector);
    if (pinned) break;  // one name is one device
  }
  return check_any_kept(selection);
}

Status ProgramRunner::State::check(std::span<const HostTensor> given) const {
  const std::string& name = generic.bound.name;
  if (given.size() != inputs.size())
    return invalid_argument("'{}' has {} inputs, got {}", name, inputs.size(), given.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].type() != inputs[i].type || given[i].sizes() != inputs[i].sizes)
      return invalid_argument("'{}': input '{}' is {}, the program was compiled for {}", name,
                              inputs[i].name, to_string(given[i].type(), given[i].sizes()),
                              to_string(inputs[i].type, inputs[i].sizes));
  return Status();
}

// The first one that is not kept out, else the one that is so for the shortest time.
std::optional<ProgramRunner::State::Choice> ProgramRunner::State::choose(
    const std::vector<const Slot*>& tried) {
  const Clock::time_point at = now();
  std::lock_guard lock(mutex);
  Slot* best = nullptr;
  for (Slot& slot : slots) {
    if (slot.last.for_good || std::count(tried.begin(), tried.end(), &slot) > 0) continue;
    if (slot.in_a_row == 0 || slot.kept_until <= at) return Choice{&slot, slot.failures};
    if (best == nullptr || slot.kept_until < best->kept_until) best = &slot;
  }
  if (best == nullptr) return std::nullopt;
  return Choice{best, best->failures};
}

Result<ProgramRunner::State::Loaded> ProgramRunner::State::load_on(const Slot& slot,
                                                                   const RunnerWork& work,
                                                                   Failure& failure) {
  Loaded out;
  failure.stage = RunStage::open;
  out.device = slot.open;
  if (!out.device.valid()) {
    STRIA_ASSIGN(out.device, Inside::open_kept(*runtime, selector, slot.info));
  }
  if (work.opened) {
    const Status wanted = work.opened(out.device);
    failure.is_callers = !wanted.ok();
    STRIA_RETURN_IF_ERROR(wanted);
  }
  failure.stage = RunStage::compile;
  const CompileOptions& how = options.compile;
  if (how.pipeline) {
    const Status legal = CompileDriver::check_parameters(out.device, how);
    failure.is_callers = !legal.ok();
    STRIA_RETURN_IF_ERROR(legal);
  }
  const Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(Compilation compilation, CompileDriver::specialize(out.device, generic, how));
  STRIA_ASSIGN(out.executable, CompileDriver::load(out.device, std::move(compilation), how));
  out.compile_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return out;
}

std::shared_ptr<const ProgramRunner::State::Loaded> ProgramRunner::State::loaded_on(
    const Choice& choice, const RunnerWork& work, Failure& failure) {
  Slot& slot = *choice.slot;
  std::lock_guard opening(slot.opening);
  {
    std::lock_guard lock(mutex);
    if (slot.loaded) return slot.loaded;
    // Another run has met the failure that this one would.
    if (slot.failures != choice.failures_before) {
      failure = slot.last;
      return nullptr;
    }
  }
  Result<Loaded> made = load_on(slot, work, failure);
  if (made.ok()) {
    auto loaded = std::make_shared<const Loaded>(std::move(*made));
    std::lock_guard lock(mutex);
    slot.loaded = loaded;
    return loaded;
  }
  failure.why = made.status();
  if (runtime && Inside::has_ended(*runtime)) failure.is_callers = true;
  failure.for_good = failure.stage == RunStage::compile && !may_pass(failure.why.code());
  if (!failure.is_callers) keep_out(slot, nullptr, failure);
  return nullptr;
}

void ProgramRunner::State::keep_out(Slot& slot, const Loaded* failed, Failure& failure) {
  const Clock::time_point at = now();
  std::shared_ptr<const Loaded> closed;  // goes without the lock
  std::lock_guard lock(mutex);
  if (slot.loaded.get() != failed) {
    failure.kept_out = std::max(slot.kept_until - at, Clock::duration(0));
    return;
  }
  closed = std::move(slot.loaded);
  slot.loaded.reset();
  failure.kept_out = wait_after(options.first_wait, options.longest_wait, slot.in_a_row);
  ++slot.failures;
  ++slot.in_a_row;
  slot.kept_until = at + failure.kept_out;
  slot.last = failure;
}

void ProgramRunner::State::keep_failure(Slot& slot, const Failure& failure, double began) {
  {
    std::lock_guard lock(mutex);
    slot.is_forgiven = false;
  }
  if (quarantine && failure.why.code() == StatusCode::device_lost)
    quarantine->failed(slot.info, Quarantine::Cause::lost, generic.bound.name,
                       hal::one_line(failure.why.message()), began);
}

void ProgramRunner::State::keep_success(Slot& slot) {
  {
    std::lock_guard lock(mutex);
    if (std::exchange(slot.is_forgiven, true)) return;
  }
  if (quarantine) quarantine->ended_well(slot.info, false);
}

Status ProgramRunner::State::attempt(const Choice& choice, const RunnerWork& work,
                                     Failure& failure) {
  Slot& slot = *choice.slot;
  const double began = quarantine ? quarantine->now() : 0;
  std::shared_ptr<const Loaded> loaded = loaded_on(choice, work, failure);
  if (!loaded) {
    if (!failure.is_callers) keep_failure(slot, failure, began);
    return failure.why;
  }
  failure.stage = RunStage::run;
  RunnerNotes notes;
  notes.compile_seconds = loaded->compile_seconds;
  failure.why = work.run(loaded->device, loaded->executable, notes);
  if (failure.why.ok()) {
    if (work.is_preparation) return Status();
    keep_success(slot);
    std::lock_guard lock(mutex);
    if (slot.loaded == loaded) slot.in_a_row = 0;
    return Status();
  }
  failure.is_callers = failure.why.code() == StatusCode::invalid_argument;
  if (!failure.is_callers) {
    keep_out(slot, loaded.get(), failure);
    keep_failure(slot, failure, began);
  }
  if (hangs(failure.why)) drop_what_hangs(std::pair(std::move(notes.made), std::move(loaded)));
  return failure.why;
}

void ProgramRunner::State::tell(const Slot& failed, const Failure& failure, const Slot& next) {
  HandOver out;
  out.device = failed.info.selector;
  out.stage = failure.stage;
  out.why = failure.why;
  out.next = next.info.selector;
  out.kept_out = failure.kept_out;
  out.for_good = failure.for_good;
  out.text =
      fmt::format("{}; going on with {}", what_happened(out.device, out.stage, out.why), out.next);
  {
    std::lock_guard lock(mutex);
    ++count;
    hand_overs.push_back(out);
    if (hand_overs.size() > kKeptHandOvers) hand_overs.pop_front();
  }
  if (runtime) Inside::log(*runtime, LogLevel::warning, out.text);
  if (options.on_hand_over) options.on_hand_over(out);
}

Status ProgramRunner::State::nothing_left(
    const std::vector<std::pair<std::string, Failure>>& failures) {
  constexpr size_t kMaxLines = 20;
  constexpr size_t kMaxLine = 400;
  std::vector<std::string> lines;
  bool agree = true;
  for (const auto& [device, failure] : failures) {
    lines.push_back(what_happened(device, failure.stage, failure.why));
    agree = agree && failure.why.code() == failures[0].second.why.code();
  }
  const StatusCode code =
      agree && !failures.empty() ? failures[0].second.why.code() : StatusCode::unavailable;
  lines.insert(lines.end(), dropped.begin(), dropped.end());
  std::string text =
      fmt::format("no device is left of '{}' that runs '{}':", shown_name(selector.to_string()),
                  generic.bound.name);
  for (size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i)
    text += "\n  " + cut_text(lines[i], kMaxLine);
  if (lines.size() > kMaxLines) text += fmt::format("\n  and {} more", lines.size() - kMaxLines);
  return Status(code, std::move(text));
}

Status ProgramRunner::State::run(const RunnerWork& work) {
  std::vector<const Slot*> tried;
  std::vector<std::pair<std::string, Failure>> failures;
  {
    std::lock_guard lock(mutex);
    for (const Slot& slot : slots)
      if (slot.last.for_good) failures.emplace_back(slot.info.selector, slot.last);
  }
  std::optional<Choice> choice = choose(tried);
  while (choice) {
    Slot& slot = *choice->slot;
    tried.push_back(&slot);
    Failure failure;
    const Status status = attempt(*choice, work, failure);
    if (status.ok() || failure.is_callers || pinned) return status;
    failures.emplace_back(slot.info.selector, failure);
    choice = choose(tried);
    if (choice) tell(slot, failure, *choice->slot);
  }
  // One reason alone is told whole.
  if (failures.size() == 1 && (pinned || dropped.empty()))
    return pinned ? failures[0].second.why : failures[0].second.why.with_context(failures[0].first);
  return nothing_left(failures);
}

const std::vector<TensorInfo>& ProgramRunner::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& ProgramRunner::outputs() const { return state_->outputs; }
const std::vector<std::string>& ProgramRunner::devices() const { return state_->names; }

Result<ProgramRunner> ProgramRunner::create(const Runtime& runtime, std::string_view selector,
                                            const Program& program, const InputTypes& inputs,
                                            const RunnerOptions& options) {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options.compile));
  return Inside::runner(runtime, selector, std::move(generic), options);
}

Result<ProgramRunner> ProgramRunner::create(const Runtime& runtime, const Pick& pick,
                                            const Program& program, const InputTypes& inputs,
                                            const RunnerOptions& options) {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options.compile));
  ProgramRunner out;
  out.state_ = State::create(std::move(generic), options);
  STRIA_RETURN_IF_ERROR(out.state_->take_order(runtime, pick.selection));
  return out;
}

Result<ProgramRunner> Inside::runner(const Runtime& runtime, std::string_view selector,
                                     Compilation generic, const RunnerOptions& options,
                                     Pick* picked) {
  STRIA_ASSIGN(const Selection selection, order(runtime, selector, &generic, picked));
  ProgramRunner out;
  out.state_ = ProgramRunner::State::create(std::move(generic), options);
  STRIA_RETURN_IF_ERROR(out.state_->take_order(runtime, selection));
  return out;
}

ProgramRunner Inside::runner(const Device& device, Compilation generic,
                             const RunnerOptions& options) {
  ProgramRunner out;
  out.state_ = ProgramRunner::State::create(std::move(generic), options);
  out.state_->pinned = true;
  ProgramRunner::State::Slot& slot = out.state_->slots.emplace_back();
  slot.info = device.info();
  slot.open = device;
  out.state_->names.push_back(slot.info.selector);
  return out;
}

Status Inside::run(const ProgramRunner& runner, const RunnerWork& work) {
  return runner.state_->run(work);
}

Result<std::string> ProgramRunner::prepare() const {
  std::string device;
  RunnerWork work;
  work.run = [&](const Device& on, const Executable&, RunnerNotes&) {
    device = on.info().selector;
    return Status();
  };
  work.is_preparation = true;
  STRIA_RETURN_IF_ERROR(state_->run(work));
  return device;
}

Result<RunResult> ProgramRunner::run(std::span<const HostTensor> inputs) const {
  STRIA_RETURN_IF_ERROR(state_->check(inputs));
  RunResult out;
  RunnerWork work;
  work.run = [&](const Device& device, const Executable& executable, RunnerNotes& notes) {
    out.outputs.clear();
    out.device = device.info().selector;
    return run_there(device, executable, inputs, out.outputs, notes);
  };
  STRIA_RETURN_IF_ERROR(state_->run(work));
  return out;
}

uint64_t ProgramRunner::handed_over() const {
  std::lock_guard lock(state_->mutex);
  return state_->count;
}

std::vector<HandOver> ProgramRunner::hand_overs() const {
  std::lock_guard lock(state_->mutex);
  return {state_->hand_overs.begin(), state_->hand_overs.end()};
}

}  // namespace stria
