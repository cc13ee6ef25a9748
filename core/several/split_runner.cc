// SPDX-License-Identifier: Apache-2.0
#include "stria/several/split_runner.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/run_failure.h"
#include "stria/several/device_list.h"
#include "stria/several/on_each.h"
#include "stria/several/split_state.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeptLosses = 100;

// Several of them are in one message.
std::string line_of(const std::string& device, RunStage stage, const Status& why) {
  constexpr size_t kMaxLine = 400;
  return cut_text(what_happened(device, stage, why), kMaxLine);
}

}  // namespace

struct [[gnu::visibility("hidden")]] SplitRunner::State {
  struct Failure {
    size_t slot = 0;
    RunStage stage = RunStage::run;
    Status why;
  };
  // Of one device of the list.
  struct Slot {
    ListedDevice listed;
    Device device;          // guarded by `preparing`; invalid: not open
    uint64_t failures = 0;  // in all; guarded by `mutex`, as all below
    int in_a_row = 0;       // since a run ended well
    Clock::time_point kept_until;
    bool for_good = false;
    Failure last;
  };
  // The program as it is shared out now.
  struct Active {
    std::vector<size_t> slots;
    std::vector<uint64_t> failures;  // of each of these when it was made
    SplitExecutable executable;
    std::vector<size_t> owners;  // the slot of each part
  };
  // What has been taken out of use, and may wait for work that hangs when it goes.
  struct Closed {
    std::vector<Device> devices;
    std::vector<std::shared_ptr<const Active>> active;
    std::shared_ptr<void> made;
  };
  // What one run has made on the devices.
  struct Made {
    std::shared_ptr<const Active> active;
    std::vector<SplitTensor> in, out;
    SplitRun run;
  };

  Runtime runtime;
  Compilation generic;
  SplitRunnerOptions options;
  std::function<Status(const Device&)> opened;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::string> names;
  std::deque<Slot> slots;  // the list does not change

  std::mutex preparing;                  // one thread opens and compiles, the others wait for it
  std::shared_ptr<const Active> active;  // guarded by `preparing`
  std::mutex mutex;
  std::deque<DeviceLoss> losses;  // guarded by mutex

  Status check(std::span<const HostTensor> given) const;
  // Calls `work` with the program shared out over what can be used, until no device fails.
  Status run(
      const std::function<Status(const std::shared_ptr<Made>&, std::vector<Failure>&)>& work);
  Status attempt(const std::shared_ptr<Made>& made, std::span<const HostTensor> given,
                 SplitResult& result, std::vector<Failure>& failed) const;

 private:
  Clock::time_point now() const { return options.clock ? options.clock() : Clock::now(); }
  std::vector<size_t> usable(const std::set<size_t>& tried);
  // Null, with what has failed, or with a status that is the caller's.
  Result<std::shared_ptr<const Active>> prepare(const std::set<size_t>& tried,
                                                std::vector<Failure>& failed);
  // What is closed with it goes into `closed`.
  void keep_out(const Failure& failure, uint64_t failures_before, Closed& closed);
  void tell(const Failure& failure, const std::set<size_t>& tried);
  Status nothing_left() const;
};

Status SplitRunner::State::check(std::span<const HostTensor> given) const {
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

// Those that are not kept out; if all are, those that this run has not tried.
std::vector<size_t> SplitRunner::State::usable(const std::set<size_t>& tried) {
  const Clock::time_point at = now();
  std::vector<size_t> well, out;
  const std::lock_guard lock(mutex);
  for (size_t n = 0; n < slots.size(); ++n) {
    const Slot& slot = slots[n];
    if (slot.for_good || tried.contains(n)) continue;
    out.push_back(n);
    if (slot.in_a_row == 0 || slot.kept_until <= at) well.push_back(n);
  }
  return well.empty() ? out : well;
}

Result<std::shared_ptr<const SplitRunner::State::Active>> SplitRunner::State::prepare(
    const std::set<size_t>& tried, std::vector<Failure>& failed) {
  const std::lock_guard one_at_a_time(preparing);
  auto made = std::make_shared<Active>();
  made->slots = usable(tried);
  if (made->slots.empty()) return nothing_left();
  {
    const std::lock_guard lock(mutex);
    for (const size_t n : made->slots) made->failures.push_back(slots[n].failures);
  }
  if (active && active->slots == made->slots && active->failures == made->failures) return active;
  active.reset();
  std::vector<Device> devices;
  for (const size_t n : made->slots) {
    Slot& slot = slots[n];
    Result<Device> device = slot.device;
    if (!slot.device.valid()) {
      device = Inside::open_kept(runtime, slot.listed.selector, slot.listed.info);
      if (!device.ok() && Inside::has_ended(runtime)) return device.status();
      if (device.ok() && opened) STRIA_RETURN_IF_ERROR(opened(*device));
    }
    if (device.ok())
      devices.push_back(slot.device = *device);
    else
      failed.push_back({n, RunStage::open, device.status()});
  }
  if (!failed.empty()) return std::shared_ptr<const Active>();
  SplitOptions how = options.split;
  if (!how.shares.empty()) {
    how.shares.clear();
    for (const size_t n : made->slots) how.shares.push_back(options.split.shares[n]);
    // Who gets nothing beside others may be all that is left.
    if (std::all_of(how.shares.begin(), how.shares.end(), [](double s) { return s <= 0; }))
      how.shares.assign(how.shares.size(), 1);
  }
  std::vector<Status> outcomes;
  Result<SplitExecutable> executable = SplitInside::compile(devices, generic, how, outcomes);
  for (size_t k = 0; k < outcomes.size(); ++k)
    if (!outcomes[k].ok()) failed.push_back({made->slots[k], RunStage::compile, outcomes[k]});
  if (!failed.empty()) return std::shared_ptr<const Active>();
  STRIA_RETURN_IF_ERROR(executable.status());
  made->executable = *std::move(executable);
  size_t k = 0;
  for (const SplitPart& part : made->executable.parts()) {
    while (Inside::hal_device(devices[k]).state() != Inside::hal_device(part.device).state()) ++k;
    made->owners.push_back(made->slots[k++]);
  }
  active = made;
  return active;
}

void SplitRunner::State::keep_out(const Failure& failure, uint64_t failures_before,
                                  Closed& closed) {
  const std::lock_guard one_at_a_time(preparing);
  Slot& slot = slots[failure.slot];
  const Clock::time_point at = now();
  const std::lock_guard lock(mutex);
  if (slot.failures != failures_before) return;  // another run has met the same failure
  closed.devices.push_back(std::exchange(slot.device, Device()));
  closed.active.push_back(std::move(active));
  active.reset();
  const auto wait = wait_after(options.first_wait, options.longest_wait, slot.in_a_row);
  ++slot.failures;
  ++slot.in_a_row;
  slot.kept_until = at + wait;
  slot.for_good = failure.stage == RunStage::compile && !may_pass(failure.why.code());
  slot.last = failure;
}

void SplitRunner::State::tell(const Failure& failure, const std::set<size_t>& tried) {
  DeviceLoss out;
  const std::vector<size_t> left = usable(tried);
  for (const size_t n : left) out.left.push_back(names[n]);
  out.device = names[failure.slot];
  out.stage = failure.stage;
  out.why = failure.why;
  out.text = line_of(out.device, out.stage, out.why);
  if (!left.empty()) out.text += "; going on with " + join(out.left, ", ");
  {
    const Clock::time_point at = now();
    const std::lock_guard lock(mutex);
    const Slot& slot = slots[failure.slot];
    out.for_good = slot.for_good;
    out.kept_out = std::max(slot.kept_until - at, Clock::duration(0));
    losses.push_back(out);
    if (losses.size() > kKeptLosses) losses.pop_front();
  }
  if (left.empty()) return;  // the failure of the run says it
  Inside::log(runtime, LogLevel::warning, out.text);
  if (options.on_loss) options.on_loss(out);
}

Status SplitRunner::State::nothing_left() const {
  std::string text = fmt::format("no device is left that runs '{}':", generic.bound.name);
  StatusCode code = slots[0].last.why.code();
  for (size_t n = 0; n < slots.size(); ++n) {
    const Failure& last = slots[n].last;
    if (last.why.code() != code) code = StatusCode::unavailable;
    text += "\n  " + line_of(names[n], last.stage, last.why);
  }
  return Status(code, std::move(text));
}

Status SplitRunner::State::run(
    const std::function<Status(const std::shared_ptr<Made>&, std::vector<Failure>&)>& work) {
  std::set<size_t> tried;  // that have failed in this run
  while (true) {
    std::vector<Failure> failed;
    STRIA_ASSIGN(std::shared_ptr<const Active> now_active, prepare(tried, failed));
    auto closed = std::make_shared<Closed>();
    std::vector<uint64_t> before(slots.size());
    {
      const std::lock_guard lock(mutex);
      for (size_t n = 0; n < slots.size(); ++n) before[n] = slots[n].failures;
    }
    if (now_active) {
      for (size_t k = 0; k < now_active->slots.size(); ++k)
        before[now_active->slots[k]] = now_active->failures[k];
      auto made = std::make_shared<Made>();
      made->active = now_active;
      const Status status = work(made, failed);
      closed->made = std::move(made);
      if (failed.empty()) {
        STRIA_RETURN_IF_ERROR(status);
        const std::lock_guard lock(mutex);
        for (const size_t n : now_active->owners)
          if (slots[n].failures == before[n]) slots[n].in_a_row = 0;
        return Status();
      }
    }
    for (const Failure& one : failed) {
      // What a caller does wrong is no fault of the device.
      if (one.stage == RunStage::run && one.why.code() == StatusCode::invalid_argument)
        return one.why.with_context(names[one.slot]);
      tried.insert(one.slot);
    }
    for (const Failure& one : failed) {
      keep_out(one, before[one.slot], *closed);
      tell(one, tried);
    }
    const bool hangs = std::any_of(failed.begin(), failed.end(), [](const Failure& one) {
      return one.why.code() == StatusCode::deadline_exceeded;
    });
    closed->active.push_back(std::move(now_active));
    if (hangs) drop_what_hangs(std::move(closed));
  }
}

Status SplitRunner::State::attempt(const std::shared_ptr<Made>& made,
                                   std::span<const HostTensor> given, SplitResult& result,
                                   std::vector<Failure>& failed) const {
  const SplitExecutable& executable = made->active->executable;
  const SplitData& data = SplitInside::data(executable);
  const auto note = [&](const std::vector<Status>& outcomes) {
    for (size_t n = 0; n < outcomes.size(); ++n)
      if (!outcomes[n].ok())
        failed.push_back({made->active->owners[n], RunStage::run, outcomes[n]});
    return failed.empty();
  };
  for (size_t i = 0; i < data.in.size(); ++i) {
    if (!note(SplitInside::create(executable, data.in[i], made->in.emplace_back()))) return {};
    if (!note(SplitInside::write(made->in.back(), given[i].bytes()))) return {};
  }
  for (const SplitArgument& argument : data.out)
    if (!note(SplitInside::create(executable, argument, made->out.emplace_back()))) return {};
  std::vector<Status> outcomes(data.parts.size());
  // As SplitExecutable::run, but each part's failure is its own.
  std::vector<Event> events(data.parts.size());
  for (size_t n = 0; n < data.parts.size(); ++n) {
    std::vector<Tensor> in, out;
    for (const SplitTensor& tensor : made->in) in.push_back(tensor.pieces()[n]);
    for (const SplitTensor& tensor : made->out) out.push_back(tensor.pieces()[n]);
    Result<Event> started = data.parts[n].executable.run(in, out);
    outcomes[n] = started.status();
    if (started.ok()) events[n] = *std::move(started);
  }
  for (size_t n = 0; n < events.size(); ++n)
    if (outcomes[n].ok()) outcomes[n] = events[n].wait();
  // Before anything is read: to read what never comes would wait again.
  if (!note(outcomes)) return {};
  result.outputs.clear();
  result.devices = data.names;
  for (const SplitTensor& tensor : made->out) {
    STRIA_ASSIGN(HostTensor values,
                 HostTensor::create(tensor.info().type, tensor.info().sizes, tensor.info().name));
    if (!note(SplitInside::read(tensor, values))) return {};
    result.outputs.push_back(std::move(values));
  }
  return Status();
}

Result<SplitRunner> SplitInside::runner(const Runtime& runtime, std::string_view devices,
                                        Compilation generic, const SplitRunnerOptions& options,
                                        std::function<Status(const Device&)> opened) {
  STRIA_ASSIGN(const std::vector<ListedDevice> listed, list_devices(runtime, devices, &generic));
  SplitRunner out;
  out.state_ = std::make_shared<SplitRunner::State>();
  SplitRunner::State& state = *out.state_;
  state.runtime = runtime;
  state.options = options;
  state.opened = std::move(opened);
  if (!options.split.shares.empty() && options.split.shares.size() != listed.size())
    return invalid_argument("{} shares for {} devices", options.split.shares.size(), listed.size());
  for (const SplitArgument& one : inputs_of(generic)) state.inputs.push_back(one.info);
  for (const SplitArgument& one : outputs_of(generic)) state.outputs.push_back(one.info);
  for (const ListedDevice& one : listed) {
    state.slots.emplace_back().listed = one;
    state.names.push_back(one.info.selector);
  }
  state.generic = std::move(generic);
  return out;
}

Result<SplitRunner> SplitRunner::create(const Runtime& runtime, std::string_view devices,
                                        const Program& program, const InputTypes& inputs,
                                        const SplitRunnerOptions& options) {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options.split.compile));
  return SplitInside::runner(runtime, devices, std::move(generic), options);
}

const std::vector<TensorInfo>& SplitRunner::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& SplitRunner::outputs() const { return state_->outputs; }
const std::vector<std::string>& SplitRunner::devices() const { return state_->names; }

Result<std::string> SplitRunner::prepare() const {
  std::string text;
  STRIA_RETURN_IF_ERROR(
      state_->run([&](const std::shared_ptr<State::Made>& made, std::vector<State::Failure>&) {
        text = made->active->executable.description();
        return Status();
      }));
  return text;
}

Result<SplitResult> SplitRunner::run(std::span<const HostTensor> inputs) const {
  STRIA_RETURN_IF_ERROR(state_->check(inputs));
  SplitResult out;
  STRIA_RETURN_IF_ERROR(state_->run(
      [&](const std::shared_ptr<State::Made>& made, std::vector<State::Failure>& failed) {
        return state_->attempt(made, inputs, out, failed);
      }));
  return out;
}

std::vector<DeviceLoss> SplitRunner::losses() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->losses.begin(), state_->losses.end()};
}

}  // namespace stria
