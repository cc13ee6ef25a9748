// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device.h"

#include "stria/base/status.h"
#include "stria/hal/experimental.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/micro_kernels.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/device_state.h"
#include "stria/runtime/host/hw_overlays.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/runtime/tensor_state.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/type/tensor_shape.h"

namespace stria {

DeviceInfo public_info(const hal::DeviceInfo& info, std::string plugin, std::string selector,
                       const std::filesystem::path& folder) {
  DeviceInfo out;
  out.selector = std::move(selector);
  out.plugin = std::move(plugin);
  out.id = info.id;
  out.name = info.name;
  out.kind = info.kind;
  out.vendor = info.vendor;
  out.available = info.available;
  out.reason = info.reason;
  out.memory_bytes = info.memory_bytes;
  out.folder = folder.string();
  return out;
}

Result<Device> Inside::open(const hal::Plugin& plugin, std::string_view device_id,
                            std::string selector,
                            const std::vector<std::filesystem::path>& overlays) {
  auto state = std::make_shared<Device::State>();
  state->plugin = plugin;
  STRIA_ASSIGN(state->device, plugin.open(device_id));
  state->memory = exec::DeviceMemory(state->device);
  const hal::DeviceInfo& info = state->device.info();
  state->name = plugin.id() + ":" + info.id;
  if (selector.empty()) selector = state->name;
  state->info = public_info(info, plugin.id(), std::move(selector), plugin.directory());
  STRIA_ASSIGN(const SourceText hw_text, plugin.read_hw_model(info.kind));
  STRIA_ASSIGN(const std::vector<SourceText> overlay_files,
               hw_overlays(plugin.directory(), plugin.id(), info.name, overlays));
  STRIA_ASSIGN(state->model, load_hardware_model(hw_text, {}, info.properties, overlay_files));
  STRIA_RETURN_IF_ERROR(check_micro_kernels(state->model, plugin.id()));
  STRIA_ASSIGN(state->pipeline_source.text, plugin.read_pipeline(info.kind));
  state->pipeline_source.of_manifest = true;
  state->pipeline_source.own = [plugin, kind = info.kind](const std::string& name) {
    return plugin.read_fragment(kind, name);
  };
  state->passes = passes::pass_registry();
  state->passes.passes.push_back(make_plugin_pass(state->device));
  STRIA_ASSIGN(state->pipeline,
               parse_pipeline(state->pipeline_source, {}, state->model, state->passes));
  Device device;
  device.state_ = std::move(state);
  return device;
}

const hal::Device& Inside::hal_device(const Device& device) { return device.state_->device; }
const HardwareModel& Inside::model(const Device& device) { return device.state_->model; }

const std::string& Device::name() const { return state_->name; }
const DeviceInfo& Device::info() const { return state_->info; }

Result<Tensor> Device::create_tensor(DataType type, std::vector<int64_t> sizes,
                                     std::string_view what) const {
  Tensor tensor;
  STRIA_ASSIGN(tensor.state_, Tensor::State::create(state_->memory, state_->order,
                                                    {type, std::move(sizes)}, what));
  return tensor;
}

Result<Tensor> Device::create_tensor(const TensorInfo& info) const {
  return create_tensor(info.type, info.sizes, info.name);
}

Result<Tensor> Device::import_tensor(std::span<std::byte> memory, DataType type,
                                     std::vector<int64_t> sizes,
                                     std::shared_ptr<const void> owner) const {
  TensorType wanted{type, std::move(sizes)};
  STRIA_ASSIGN(auto state, Tensor::State::without_memory(state_->memory, state_->order,
                                                         std::move(wanted), "imported tensor"));
  const uint64_t bytes = static_cast<uint64_t>(bytes_of(type, state->element_count));
  if (memory.size() != bytes)
    return invalid_argument("an imported tensor {} has {} bytes, the memory {}",
                            to_string(type, state->type.sizes), bytes, memory.size());
  auto buffer = hal::import_memory(state_->device, memory, std::move(owner));
  if (!buffer.ok()) return buffer.status().with_context(name());
  state->buffer = std::move(*buffer);
  Tensor tensor;
  tensor.state_ = std::move(state);
  return tensor;
}

Result<Event> Device::create_event() const {
  STRIA_ASSIGN(hal::Event event, state_->device.create_event());
  return Inside::event_of(std::move(event));
}

Result<std::vector<TemplateParameter>> Inside::parameters(const Device& device) {
  return declared_parameters(device.state_->pipeline_source.text);
}

const std::vector<std::string>& Inside::pipeline_notes(const Device& device) {
  return device.state_->pipeline.notes;
}

Result<Pipeline> Inside::pipeline(const Device& device, const HardwareModel& model, int tune) {
  const Device::State& state = *device.state_;
  return parse_pipeline(state.pipeline_source, {{"tune", std::to_string(tune)}}, model,
                        state.passes);
}

const std::string& Inside::pipeline_name(const Device& device) {
  return device.state_->pipeline_source.text.name;
}

Result<Executable> Device::compile(const Program& program, const InputTypes& inputs,
                                   const CompileOptions& options) const {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options));
  STRIA_ASSIGN(Compilation compilation,
               CompileDriver::specialize(*this, std::move(generic), options));
  return CompileDriver::load(*this, std::move(compilation), options);
}

Result<Executable> Device::load_stripe(const SourceText& stripe,
                                       const CompileOptions& options) const {
  Compilation compilation;
  STRIA_ASSIGN(compilation.generic, stripe::parse(stripe));
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(state_->model));
  STRIA_RETURN_IF_ERROR(stripe::verify(compilation.generic, rules.options(&intrinsic_signatures()))
                            .with_context(stripe.name));
  if (options.keep_stages)
    compilation.add_stage("program", "stripe", stripe::print(compilation.generic));
  if (options.pipeline) {
    STRIA_ASSIGN(compilation, CompileDriver::specialize(*this, std::move(compilation), options));
  } else {
    compilation.device = compilation.generic;
    compilation.device_text = stripe::print(compilation.device);
  }
  return CompileDriver::load(*this, std::move(compilation), options);
}

}  // namespace stria
