// SPDX-License-Identifier: Apache-2.0
#include "stria/several/split_executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/several/on_each.h"
#include "stria/several/shares.h"
#include "stria/several/split.h"
#include "stria/several/split_state.h"
#include "stria/stripe/text/printer.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

std::vector<SplitArgument> arguments_of(const Compilation& generic,
                                        const std::vector<tile::TensorId>& ids, bool without_values,
                                        const Split& split) {
  std::vector<SplitArgument> out;
  const ProgramBinding* const binding = generic.binding.get();
  for (const tile::TensorId id : ids) {
    const tile::BoundTensor& tensor = generic.bound.tensors[id];
    if (binding != nullptr && without_values && binding->values.contains(tensor.name)) continue;
    SplitArgument& one = out.emplace_back();
    one.info = {binding != nullptr ? binding->shown(tensor.name) : tensor.name,
                tensor.outside_type(), tensor.sizes};
    if (const auto cut = split.cuts.find(tensor.name); cut != split.cuts.end())
      one.cut = cut->second;
  }
  return out;
}

Status check_shares(const std::vector<double>& shares, size_t devices) {
  bool good = shares.size() == devices, any = false;
  for (const double share : shares) {
    good = good && std::isfinite(share) && share >= 0;
    any = any || share > 0;
  }
  if (good && any) return Status();
  return invalid_argument(
      "{} shares for {} devices: they are numbers of at least 0, one for each, and one is above 0",
      shares.size(), devices);
}

// Parts that are built from one text for devices of one kind.
struct Group {
  std::string text;
  Device first;
  Compilation generic;
  Result<Compilation> special = Compilation();
  std::vector<size_t> parts;
};

Status compile_parts(const Compilation& generic, const Split& split, const SplitOptions& options,
                     SplitData& state, std::vector<Status>& outcomes) {
  std::vector<Group> groups;
  for (size_t n = 0; n < state.parts.size(); ++n) {
    const Device& device = state.parts[n].device;
    Compilation part = generic;
    if (state.parts.size() > 1) {
      STRIA_ASSIGN(part, part_of(generic, split, state.ranges[n]));
    }
    // Rows of weights that a part has are no part of the text.
    const bool has_own_weights = part.binding != generic.binding && part.binding != nullptr &&
                                 part.binding->values != generic.binding->values;
    std::string text = stripe::print(part.generic);
    Group* group = nullptr;
    for (Group& one : groups)
      if (!has_own_weights && one.text == text && are_alike(one.first, device)) group = &one;
    if (group == nullptr) {
      group = &groups.emplace_back();
      group->text = std::move(text);
      group->first = device;
      group->generic = std::move(part);
    }
    group->parts.push_back(n);
  }
  CompileOptions how = options.compile;
  how.recorder = nullptr;
  on_each(groups.size(), [&](size_t n) {
    Group& group = groups[n];
    group.special = CompileDriver::specialize(group.first, std::move(group.generic), how);
    return Status();
  });
  std::vector<const Group*> group_of(state.parts.size());
  for (const Group& group : groups)
    for (const size_t part : group.parts) group_of[part] = &group;
  outcomes = on_each(state.parts.size(), [&](size_t n) -> Status {
    const Group& group = *group_of[n];
    STRIA_RETURN_IF_ERROR(group.special.status());
    STRIA_ASSIGN(state.parts[n].executable,
                 CompileDriver::load(state.parts[n].device, *group.special, how));
    return Status();
  });
  return first_failure(outcomes, state.names);
}

}  // namespace

std::vector<SplitArgument> inputs_of(const Compilation& generic) {
  return arguments_of(generic, generic.bound.inputs, true, Split());
}
std::vector<SplitArgument> outputs_of(const Compilation& generic) {
  return arguments_of(generic, generic.bound.outputs, false, Split());
}

Result<SplitExecutable> SplitInside::compile(std::span<const Device> devices,
                                             const Compilation& generic,
                                             const SplitOptions& options,
                                             std::vector<Status>& outcomes) {
  outcomes.assign(devices.size(), Status());
  if (devices.empty()) return invalid_argument("'{}' is for no device", generic.bound.name);
  auto state = std::make_shared<SplitExecutable::State>();
  state->name = generic.bound.name;
  Split split;
  std::vector<double> shares = options.shares;
  if (!shares.empty()) STRIA_RETURN_IF_ERROR(check_shares(shares, devices.size()));
  if (devices.size() > 1) {
    STRIA_ASSIGN(split, find_split(generic, {devices.size(), options.most_repeated}));
    if (shares.empty()) {
      STRIA_ASSIGN(shares, predicted_shares(devices, generic, options.compile));
    }
  } else {
    shares = {1};
  }
  const std::vector<UnitRange> all = share_out(split.units, shares);
  std::vector<size_t> owners;
  for (size_t n = 0; n < devices.size(); ++n) {
    if (all[n].count() == 0) continue;
    owners.push_back(n);
    state->parts.push_back({devices[n], Executable(), all[n].begin, all[n].end});
    state->ranges.push_back(all[n]);
    state->names.push_back(devices[n].info().selector);
  }
  // One part alone is the program as it is.
  if (state->parts.size() == 1) split = Split{.units = split.units};
  state->units = split.units;
  state->repeated = split.repeated;
  state->in = arguments_of(generic, generic.bound.inputs, true, split);
  state->out = arguments_of(generic, generic.bound.outputs, false, split);
  for (const SplitArgument& one : state->in) state->inputs.push_back(one.info);
  for (const SplitArgument& one : state->out) state->outputs.push_back(one.info);
  std::vector<Status> of_parts;
  const Status compiled = compile_parts(generic, split, options, *state, of_parts);
  for (size_t n = 0; n < of_parts.size(); ++n) outcomes[owners[n]] = of_parts[n];
  STRIA_RETURN_IF_ERROR(compiled);
  SplitExecutable out;
  out.state_ = std::move(state);
  return out;
}

Result<SplitExecutable> SplitExecutable::compile(std::span<const Device> devices,
                                                 const Program& program, const InputTypes& inputs,
                                                 const SplitOptions& options) {
  STRIA_ASSIGN(const Compilation generic, lower_program(program, inputs, options.compile));
  std::vector<Status> outcomes;
  return SplitInside::compile(devices, generic, options, outcomes);
}

const std::vector<TensorInfo>& SplitExecutable::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& SplitExecutable::outputs() const { return state_->outputs; }
const std::vector<SplitPart>& SplitExecutable::parts() const { return state_->parts; }
int64_t SplitExecutable::units() const { return state_->units; }
double SplitExecutable::repeated() const { return state_->repeated; }

std::string SplitExecutable::description() const {
  const State& state = *state_;
  if (state.parts.size() == 1) return fmt::format("all on {}", state.names[0]);
  std::string text;
  for (const SplitArgument& one : state.out)
    if (one.cut && text.empty())
      text = fmt::format("{} units of {} along dimension {} of '{}':", state.units, one.cut->rows,
                         one.cut->dim, one.info.name);
  for (size_t n = 0; n < state.parts.size(); ++n)
    text += fmt::format("{} {} on {}", n == 0 ? "" : ",", state.ranges[n].count(), state.names[n]);
  if (state.repeated > 0)
    text += fmt::format("; each does {:.1f}% of the work that is the same for all",
                        100 * state.repeated);
  return text;
}

std::vector<Status> SplitInside::create(const SplitExecutable& executable,
                                        const SplitArgument& argument, SplitTensor& tensor) {
  const SplitData& from = *executable.state_;
  auto state = std::make_shared<SplitTensor::State>();
  state->info = argument.info;
  state->cut = argument.cut;
  state->units = from.ranges;
  state->names = from.names;
  std::vector<Status> out;
  for (size_t n = 0; n < from.parts.size(); ++n) {
    TensorInfo info = argument.info;
    if (argument.cut) info.sizes[argument.cut->dim] = from.ranges[n].count() * argument.cut->rows;
    Result<Tensor> piece = from.parts[n].device.create_tensor(info);
    out.push_back(piece.status());
    if (piece.ok()) state->pieces.push_back(*std::move(piece));
    state->devices.push_back(from.parts[n].device);
  }
  tensor.state_ = std::move(state);
  return out;
}

Result<SplitTensor> SplitExecutable::create_input(size_t position) const {
  if (position >= state_->in.size())
    return invalid_argument("'{}' has {} inputs, there is none at {}", state_->name,
                            state_->in.size(), position);
  SplitTensor out;
  STRIA_RETURN_IF_ERROR(
      first_failure(SplitInside::create(*this, state_->in[position], out), state_->names));
  return out;
}

Result<SplitTensor> SplitExecutable::create_output(size_t position) const {
  if (position >= state_->out.size())
    return invalid_argument("'{}' has {} outputs, there is none at {}", state_->name,
                            state_->out.size(), position);
  SplitTensor out;
  STRIA_RETURN_IF_ERROR(
      first_failure(SplitInside::create(*this, state_->out[position], out), state_->names));
  return out;
}

namespace {

Status check_tensors(const std::string& program, std::string_view role,
                     const std::vector<SplitArgument>& arguments,
                     const std::vector<UnitRange>& ranges, std::span<const SplitTensor> given) {
  if (arguments.size() != given.size())
    return invalid_argument("'{}' has {} {}s, got {}", program, arguments.size(), role,
                            given.size());
  for (size_t n = 0; n < given.size(); ++n) {
    const TensorInfo& info = arguments[n].info;
    if (!given[n].valid())
      return invalid_argument("'{}': {} '{}' is no tensor", program, role, info.name);
    const TensorInfo& has = given[n].info();
    if (has.type != info.type || has.sizes != info.sizes)
      return invalid_argument("'{}': {} '{}' is {}, the program was compiled for {}", program, role,
                              info.name, to_string(has.type, has.sizes),
                              to_string(info.type, info.sizes));
    // Whole on each device, or the same rows there.
    const std::optional<Cut>& cut = arguments[n].cut;
    bool same = given[n].pieces().size() == ranges.size() && given[n].is_cut() == cut.has_value();
    for (size_t part = 0; same && cut && part < ranges.size(); ++part)
      same = given[n].dimension() == cut->dim &&
             given[n].pieces()[part].sizes()[cut->dim] == ranges[part].count() * cut->rows;
    if (!same)
      return invalid_argument(
          "'{}': {} '{}' is in other pieces than those for which the program was compiled", program,
          role, info.name);
  }
  return Status();
}

}  // namespace

Result<SplitRun> SplitExecutable::run(std::span<const SplitTensor> inputs,
                                      std::span<const SplitTensor> outputs) const {
  const State& state = *state_;
  STRIA_RETURN_IF_ERROR(check_tensors(state.name, "input", state.in, state.ranges, inputs));
  STRIA_RETURN_IF_ERROR(check_tensors(state.name, "output", state.out, state.ranges, outputs));
  SplitRun out;
  out.devices_ = state.names;
  for (size_t n = 0; n < state.parts.size(); ++n) {
    std::vector<Tensor> in, results;
    for (const SplitTensor& tensor : inputs) in.push_back(tensor.pieces()[n]);
    for (const SplitTensor& tensor : outputs) results.push_back(tensor.pieces()[n]);
    Result<Event> started = state.parts[n].executable.run(in, results);
    if (!started.ok()) {
      (void)out.wait();
      return started.status().with_context(state.names[n]);
    }
    out.events_.push_back(*std::move(started));
  }
  return out;
}

Status SplitRun::wait() const {
  std::vector<Status> outcomes;
  for (const Event& event : events_) outcomes.push_back(event.wait());
  return first_failure(outcomes, devices_);
}

}  // namespace stria
