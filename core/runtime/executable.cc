// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/executable.h"

#include <algorithm>

#include "stria/base/status.h"
#include "stria/runtime/executable_state.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/tensor_state.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

Status check_tensor(const TensorInfo& expected, const Tensor& tensor, const std::string& program,
                    std::string_view role) {
  if (!tensor.valid())
    return invalid_argument("'{}': {} '{}' is no tensor", program, role, expected.name);
  if (tensor.type() == expected.type && tensor.sizes() == expected.sizes) return Status();
  return invalid_argument("'{}': {} '{}' is {}, the program was compiled for {}", program, role,
                          expected.name, to_string(tensor.type(), tensor.sizes()),
                          to_string(expected.type, expected.sizes));
}

bool has_failed(const hal::Event& event) { return event.is_done() && !event.status().ok(); }

}  // namespace

Status Executable::State::check_place(const TensorInfo& expected, const Tensor& tensor,
                                      std::string_view role) const {
  const Tensor::State& there = *tensor.state_;
  if (there.order == order) return Status();
  const std::string other = there.device.plugin_id() + ":" + there.device.info().id;
  return invalid_argument("'{}': {} '{}' {} lives on {}, the program was compiled for {}{}",
                          loaded.plan().program, role, expected.name,
                          to_string(tensor.type(), tensor.sizes()), other, device,
                          other == device ? ", opened at another time" : "");
}

const std::string& Executable::name() const { return state_->loaded.plan().program; }
const std::vector<TensorInfo>& Executable::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& Executable::outputs() const { return state_->outputs; }
const std::string& Executable::device_stripe() const { return state_->compilation.device_text; }
const std::vector<SourceText>& Executable::stages() const { return state_->compilation.stages; }
Result<std::vector<SourceText>> Executable::sources() const {
  if (!state_->keep_sources) return std::vector<SourceText>();
  return state_->loaded.library().source();
}

const Compilation& Inside::compilation(const Executable& executable) {
  return executable.state_->compilation;
}

const exec::LoadedProgram& Inside::loaded(const Executable& executable) {
  return executable.state_->loaded;
}

Status Inside::run_in_steps(const Executable& executable, std::span<const Tensor> inputs,
                            std::span<const Tensor> outputs,
                            const exec::LoadedProgram::Look& look) {
  return executable.state_->run_in_steps(inputs, outputs, look);
}

Result<Event> Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                              std::span<const Event> waits) const {
  return state_->start(inputs, outputs, waits, {.watch_kernels = state_->watch_kernels});
}

Result<Event> Executable::run_in_a_row(uint32_t times, std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs,
                                       std::span<const Event> waits) const {
  if (times == 0) return invalid_argument("'{}' was to run 0 times in a row", name());
  return state_->start(inputs, outputs, waits, {.watch_kernels = false, .in_a_row = times});
}

Status Executable::State::check_tensors(std::span<const Tensor> from,
                                        std::span<const Tensor> to) const {
  const std::string& name = loaded.plan().program;
  if (from.size() != inputs.size() || to.size() != outputs.size())
    return invalid_argument("'{}' has {} inputs and {} outputs, got {} and {}", name, inputs.size(),
                            outputs.size(), from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    STRIA_RETURN_IF_ERROR(check_tensor(inputs[i], from[i], name, "input"));
    STRIA_RETURN_IF_ERROR(check_place(inputs[i], from[i], "input"));
  }
  for (size_t i = 0; i < to.size(); ++i) {
    STRIA_RETURN_IF_ERROR(check_tensor(outputs[i], to[i], name, "output"));
    STRIA_RETURN_IF_ERROR(check_place(outputs[i], to[i], "output"));
    if (std::find(from.begin(), from.end(), to[i]) != from.end() ||
        std::find(to.begin(), to.begin() + i, to[i]) != to.begin() + i)
      return invalid_argument("'{}': output '{}' is the same tensor as another input or output",
                              name, outputs[i].name);
  }
  return Status();
}

Status Executable::State::run_in_steps(std::span<const Tensor> from, std::span<const Tensor> to,
                                       const exec::LoadedProgram::Look& look) const {
  STRIA_RETURN_IF_ERROR(check_tensors(from, to));
  std::vector<Tensor> read(from.begin(), from.end());
  read.insert(read.end(), bound.begin(), bound.end());
  std::vector<hal::Event> before;
  std::vector<hal::Argument> in_arguments, out_arguments;
  {
    std::lock_guard lock(*order);
    for (const Tensor& tensor : read)
      if (tensor.valid()) tensor.state_->add_events_before_read(before);
    for (const Tensor& tensor : to)
      STRIA_RETURN_IF_ERROR(tensor.state_->add_events_before_write(before));
    for (const size_t position : plan_inputs)
      in_arguments.push_back({read[position].state_->buffer, 0});
    for (const size_t position : plan_outputs)
      out_arguments.push_back({to[position].state_->buffer, 0});
  }
  STRIA_RETURN_IF_ERROR(hal::wait_all(before));
  return loaded.run_in_steps(in_arguments, out_arguments, look);
}

Result<Event> Executable::State::start(std::span<const Tensor> from, std::span<const Tensor> to,
                                       std::span<const Event> waits,
                                       const exec::RunOptions& options) {
  STRIA_RETURN_IF_ERROR(check_tensors(from, to));
  std::lock_guard lock(*order);
  std::vector<hal::Event> before;
  for (const Event& event : waits)
    if (event.valid()) before.push_back(Inside::hal_event(event));
  std::vector<Tensor> read(from.begin(), from.end());
  read.insert(read.end(), bound.begin(), bound.end());
  for (const Tensor& tensor : read)
    if (tensor.valid()) tensor.state_->add_events_before_read(before);
  for (const Tensor& tensor : to)
    STRIA_RETURN_IF_ERROR(tensor.state_->add_events_before_write(before));

  const exec::Plan& plan = loaded.plan();
  std::vector<hal::Argument> in_arguments, out_arguments;
  std::vector<std::pair<Tensor, uint64_t>> given;
  std::vector<hal::Event> before_constants;
  for (size_t p = 0; p < plan.inputs.size(); ++p) {
    const Tensor& tensor = read[plan_inputs[p]];
    in_arguments.push_back({tensor.state_->buffer, 0});
    if (plan.tensors[plan.inputs[p]].prologue_reads) {
      given.emplace_back(tensor, tensor.state_->version);
      tensor.state_->add_events_before_read(before_constants);
    }
  }
  for (size_t p = 0; p < plan.outputs.size(); ++p) {
    const Tensor& tensor = to[plan_outputs[p]];
    out_arguments.push_back({tensor.state_->buffer, 0});
    if (plan.tensors[plan.outputs[p]].dir == stripe::RefDir::inout)
      tensor.state_->add_events_before_read(before);
  }
  // A prologue that has failed may go well the next time.
  if (!binding.valid() || given != constants || has_failed(binding.ready())) {
    // Not after all of `before`: a binding outlives this run and must not share its fate.
    STRIA_ASSIGN(binding, loaded.bind(in_arguments, before_constants));
    constants = std::move(given);
    // The prologue reads them even if this run does not start.
    if (binding.ready().valid())
      for (const auto& constant : constants) constant.first.state_->add_reader(binding.ready());
  }
  STRIA_ASSIGN(exec::Run run, binding.run(in_arguments, out_arguments, before, options));
  for (const Tensor& tensor : read)
    if (tensor.valid()) tensor.state_->add_reader(run.done());
  for (const Tensor& tensor : to) tensor.state_->set_writer(run.done());
  return Inside::event_of(std::move(run));
}

}  // namespace stria
