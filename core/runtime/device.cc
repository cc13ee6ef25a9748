// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device.h"

#include <fmt/format.h>

#include "stria/base/file.h"
#include "stria/pass/pipeline.h"
#include "stria/pass/reproducer.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/executable_state.h"
#include "stria/runtime/intrinsics.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/stripe/printer.h"

namespace stria {
namespace {

Result<SourceText> read_source(const std::filesystem::path& path) {
  STRIA_ASSIGN(std::string text, read_file(path));
  return SourceText{path.string(), std::move(text)};
}

std::vector<TensorInfo> infos_of(const tile::BoundProgram& bound,
                                 const std::vector<tile::TensorId>& ids) {
  std::vector<TensorInfo> infos;
  for (tile::TensorId id : ids)
    infos.push_back({bound.tensors[id].name, bound.tensors[id].type, bound.tensors[id].sizes});
  return infos;
}

// For each of the plan's tensors, where `infos` has it.
Result<std::vector<size_t>> positions_of(const exec::Plan& plan, const std::vector<size_t>& tensors,
                                         const std::vector<TensorInfo>& infos) {
  std::vector<size_t> positions;
  for (size_t t : tensors) {
    const exec::PlannedTensor& tensor = plan.tensors[t];
    size_t at = 0;
    while (at < infos.size() && infos[at].name != tensor.name) ++at;
    if (at == infos.size())
      return internal_error("device Stripe has a tensor '{}' that the program does not have",
                            tensor.name);
    if (tensor.shape != dense_shape(infos[at].type, infos[at].sizes))
      return unsupported("the pipeline changed the layout of '{}', which belongs to the caller",
                         tensor.name);
    positions.push_back(at);
  }
  return positions;
}

}  // namespace

struct Device::State {
  hal::Plugin plugin;
  hal::Device device;
  exec::DeviceMemory memory;
  HardwareModel model;
  Pipeline pipeline;
  std::shared_ptr<std::mutex> order = std::make_shared<std::mutex>();
};

Result<Device> Device::open(const hal::Plugin& plugin, std::string_view device_id) {
  auto state = std::make_shared<State>();
  state->plugin = plugin;
  STRIA_ASSIGN(state->device, plugin.open(device_id));
  state->memory = exec::DeviceMemory(state->device);
  const hal::DeviceInfo& info = state->device.info();
  STRIA_ASSIGN(std::filesystem::path hw, plugin.hw_model(info.kind));
  STRIA_ASSIGN(SourceText hw_text, read_source(hw));
  STRIA_ASSIGN(state->model, load_hardware_model(hw_text, {}, info.properties));
  STRIA_ASSIGN(std::filesystem::path pipeline, plugin.pipeline(info.kind));
  STRIA_ASSIGN(SourceText pipeline_text, read_source(pipeline));
  std::vector<PassInfo> passes = passes::all_passes();
  passes.push_back(make_plugin_pass(state->device));
  STRIA_ASSIGN(state->pipeline, parse_pipeline(pipeline_text, {}, state->model, passes));
  Device device;
  device.state_ = std::move(state);
  return device;
}

std::string Device::name() const { return state_->plugin.id() + ":" + info().id; }
const hal::DeviceInfo& Device::info() const { return state_->device.info(); }
const HardwareModel& Device::model() const { return state_->model; }
const hal::Device& Device::hal() const { return state_->device; }

Result<Tensor> Device::create_tensor(DataType type, std::vector<int64_t> sizes,
                                     std::string_view what) const {
  return Tensor::create(state_->memory, state_->order, type, std::move(sizes), what);
}

Result<Compilation> Device::specialize(Compilation compilation,
                                       const CompileOptions& options) const {
  const Pipeline& pipeline = state_->pipeline;
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  if (options.keep_stages)
    how.after_step = [&](int, const StepReport& report, const stripe::Program& after) {
      compilation.add_stage(report.step, "stripe", stripe::print(after));
    };
  auto reproducer = [&](size_t begin, size_t end, const stripe::Program& before) {
    Reproducer out;
    out.device = name();
    out.fast_math = options.fast_math;
    out.verify_each = how.verify_each;
    out.pipeline = pipeline.to_json(begin, end);
    out.hw = state_->model.to_string();
    out.program = stripe::print(before);
    return out;
  };
  if (options.recorder != nullptr) {
    how.on_failure = [&](size_t step, const stripe::Program& before, const Status& failure) {
      Reproducer failed = reproducer(step, step + 1, before);
      failed.failure = failure.to_string();
      options.recorder->failed(failed.to_string());
    };
    options.recorder->begin(reproducer(0, pipeline.steps.size(), compilation.generic).to_string());
  }
  compilation.device = compilation.generic;
  auto steps = run_pipeline(compilation.device, pipeline, state_->model, how);
  if (options.recorder != nullptr) options.recorder->end();
  if (!steps.ok())
    return steps.status().with_context(fmt::format("'{}' for {}", compilation.bound.name, name()));
  compilation.steps = std::move(*steps);
  compilation.device_text = stripe::print(compilation.device);
  return compilation;
}

Result<exec::LoadedProgram> Device::build(const stripe::Program& program, const std::string& text,
                                          const CompileOptions& options) const {
  const std::string json = fmt::format("{{\"fast_math\": {}, \"dump_source\": {}}}",
                                       options.fast_math, options.keep_stages);
  Reproducer reproducer;
  if (options.recorder != nullptr) {
    reproducer.device = name();
    reproducer.fast_math = options.fast_math;
    reproducer.build = true;
    reproducer.hw = state_->model.to_string();
    reproducer.program = text;
    options.recorder->begin(reproducer.to_string());
  }
  auto loaded = exec::LoadedProgram::load(state_->memory, program, text, json);
  if (options.recorder != nullptr) {
    options.recorder->end();
    reproducer.failure = loaded.status().to_string();
    if (!loaded.ok()) options.recorder->failed(reproducer.to_string());
  }
  if (!loaded.ok())
    return loaded.status().with_context(
        fmt::format("the build of '{}' for {}", program.entry.name, name()));
  return loaded;
}

Result<Executable> Device::load(Compilation compilation, const CompileOptions& options) const {
  auto state = std::make_shared<Executable::State>();
  state->order = state_->order;
  state->compilation = std::move(compilation);
  const Compilation& c = state->compilation;
  STRIA_ASSIGN(state->loaded, build(c.device, c.device_text, options));
  state->inputs = infos_of(c.bound, c.bound.inputs);
  state->outputs = infos_of(c.bound, c.bound.outputs);
  const exec::Plan& plan = state->loaded.plan();
  STRIA_ASSIGN(state->plan_inputs, positions_of(plan, plan.inputs, state->inputs));
  STRIA_ASSIGN(state->plan_outputs, positions_of(plan, plan.outputs, state->outputs));
  Executable executable;
  executable.state_ = std::move(state);
  return executable;
}

Result<Executable> Device::compile(const Program& program, const InputTypes& inputs,
                                   const CompileOptions& options) const {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options));
  STRIA_ASSIGN(Compilation compilation, specialize(std::move(generic), options));
  return load(std::move(compilation), options);
}

}  // namespace stria
