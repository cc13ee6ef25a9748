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

Result<Event> Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                              std::span<const Event> waits) const {
  State& state = *state_;
  const std::string& name = state.loaded.plan().program;
  if (inputs.size() != state.inputs.size() || outputs.size() != state.outputs.size())
    return invalid_argument("'{}' has {} inputs and {} outputs, got {} and {}", name,
                            state.inputs.size(), state.outputs.size(), inputs.size(),
                            outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    STRIA_RETURN_IF_ERROR(check_tensor(state.inputs[i], inputs[i], name, "input"));
    STRIA_RETURN_IF_ERROR(state.check_place(state.inputs[i], inputs[i], "input"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    STRIA_RETURN_IF_ERROR(check_tensor(state.outputs[i], outputs[i], name, "output"));
    STRIA_RETURN_IF_ERROR(state.check_place(state.outputs[i], outputs[i], "output"));
    if (std::find(inputs.begin(), inputs.end(), outputs[i]) != inputs.end() ||
        std::find(outputs.begin(), outputs.begin() + i, outputs[i]) != outputs.begin() + i)
      return invalid_argument("'{}': output '{}' is the same tensor as another input or output",
                              name, state.outputs[i].name);
  }

  std::lock_guard lock(*state.order);
  std::vector<hal::Event> before;
  for (const Event& event : waits)
    if (event.valid()) before.push_back(Inside::hal_event(event));
  for (const Tensor& tensor : inputs) tensor.state_->add_events_before_read(before);
  for (const Tensor& tensor : outputs)
    STRIA_RETURN_IF_ERROR(tensor.state_->add_events_before_write(before));

  const exec::Plan& plan = state.loaded.plan();
  std::vector<hal::Argument> in_arguments, out_arguments;
  std::vector<std::pair<Tensor, uint64_t>> constants;
  std::vector<hal::Event> before_constants;
  for (size_t p = 0; p < plan.inputs.size(); ++p) {
    const Tensor& tensor = inputs[state.plan_inputs[p]];
    in_arguments.push_back({tensor.state_->buffer, 0});
    if (plan.tensors[plan.inputs[p]].prologue_reads) {
      constants.emplace_back(tensor, tensor.state_->version);
      tensor.state_->add_events_before_read(before_constants);
    }
  }
  for (size_t p = 0; p < plan.outputs.size(); ++p) {
    const Tensor& tensor = outputs[state.plan_outputs[p]];
    out_arguments.push_back({tensor.state_->buffer, 0});
    if (plan.tensors[plan.outputs[p]].dir == stripe::RefDir::inout)
      tensor.state_->add_events_before_read(before);
  }
  // A prologue that has failed may go well the next time.
  if (!state.binding.valid() || constants != state.constants || has_failed(state.binding.ready())) {
    // Not after all of `before`: a binding outlives this run and must not share its fate.
    STRIA_ASSIGN(state.binding, state.loaded.bind(in_arguments, before_constants));
    state.constants = std::move(constants);
    // The prologue reads them even if this run does not start.
    if (state.binding.ready().valid())
      for (const auto& constant : state.constants)
        constant.first.state_->add_reader(state.binding.ready());
  }
  STRIA_ASSIGN(exec::Run run,
               state.binding.run(in_arguments, out_arguments, before, state.watch_kernels));
  for (const Tensor& tensor : inputs) tensor.state_->add_reader(run.done());
  for (const Tensor& tensor : outputs) tensor.state_->set_writer(run.done());
  return Inside::event_of(std::move(run));
}

}  // namespace stria
