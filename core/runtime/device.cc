// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/pipeline.h"
#include "stria/pass/reproducer.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/executable_state.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/intrinsics.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/runtime/tensor_state.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

std::vector<TensorInfo> infos_of(const tile::BoundProgram& bound,
                                 const std::vector<tile::TensorId>& ids) {
  std::vector<TensorInfo> infos;
  for (tile::TensorId id : ids)
    infos.push_back({bound.tensors[id].name, bound.tensors[id].type, bound.tensors[id].sizes});
  return infos;
}

std::vector<TensorInfo> infos_of(const exec::Plan& plan, const std::vector<size_t>& tensors) {
  std::vector<TensorInfo> infos;
  for (size_t t : tensors) {
    const TensorShape& shape = plan.tensors[t].shape;
    infos.push_back({plan.tensors[t].name, shape.type, shape.sizes()});
  }
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
      return unsupported(
          "device Stripe has '{}', which belongs to the caller, not as {} row by row", tensor.name,
          to_string(infos[at].type, infos[at].sizes));
    positions.push_back(at);
  }
  return positions;
}

// Whether the options say what the pipeline's parameters may be told, and once only.
Status check_parameters(const SourceText& pipeline, const CompileOptions& options) {
  STRIA_ASSIGN(const std::set<std::string> known, settable_parameters(pipeline));
  STRIA_RETURN_IF_ERROR(
      check_settings(options.parameters, known, fmt::format("'{}'", pipeline.name)));
  if (options.tune <= 0) return Status();
  STRIA_ASSIGN(const std::set<std::string> read, template_parameters(pipeline));
  if (!read.count("tune"))
    return unsupported("{}: tune {}: the pipeline times no candidates", pipeline.name,
                       options.tune);
  STRIA_ASSIGN(const std::vector<TemplateParameter> parameters, declared_parameters(pipeline));
  for (const TemplateParameter& parameter : parameters)
    if (const auto given = options.parameters.find(parameter.name);
        given != options.parameters.end() && parameter.initial_reads.count("tune"))
      return invalid_argument("tune {} and {}={} both say how many candidates are timed: give one",
                              options.tune, given->first, given->second);
  return Status();
}

// What a pipeline is rendered with.
TemplateSettings settings_of(const CompileOptions& options) {
  TemplateSettings out = options.parameters;
  out["tune"] = std::to_string(options.tune);
  return out;
}

}  // namespace

struct Device::State {
  hal::Plugin plugin;
  hal::Device device;
  exec::DeviceMemory memory;
  std::string name;
  DeviceInfo info;
  HardwareModel model;
  std::vector<PassInfo> passes;
  SourceText pipeline_text;
  Pipeline pipeline;
  std::shared_ptr<std::mutex> order = std::make_shared<std::mutex>();
};

DeviceInfo public_info(const hal::DeviceInfo& info, std::string plugin, std::string selector) {
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
  return out;
}

Result<Device> Inside::open(const hal::Plugin& plugin, std::string_view device_id,
                            std::string selector) {
  auto state = std::make_shared<Device::State>();
  state->plugin = plugin;
  STRIA_ASSIGN(state->device, plugin.open(device_id));
  state->memory = exec::DeviceMemory(state->device);
  const hal::DeviceInfo& info = state->device.info();
  state->name = plugin.id() + ":" + info.id;
  if (selector.empty()) selector = state->name;
  state->info = public_info(info, plugin.id(), std::move(selector));
  STRIA_ASSIGN(const SourceText hw_text, plugin.read_hw_model(info.kind));
  STRIA_ASSIGN(state->model, load_hardware_model(hw_text, {}, info.properties));
  STRIA_ASSIGN(state->pipeline_text, plugin.read_pipeline(info.kind));
  state->passes = passes::all_passes();
  state->passes.push_back(make_plugin_pass(state->device));
  STRIA_ASSIGN(state->pipeline,
               parse_pipeline(state->pipeline_text, {}, state->model, state->passes));
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

Result<Event> Device::create_event() const {
  STRIA_ASSIGN(hal::Event event, state_->device.create_event());
  return Inside::event_of(std::move(event));
}

Status Inside::check_parameters(const Device& device, const CompileOptions& options) {
  const Device::State& state = *device.state_;
  const SourceText& text = options.pipeline ? *options.pipeline : state.pipeline_text;
  STRIA_RETURN_IF_ERROR(stria::check_parameters(text, options));
  // Their values are read where the pipeline is.
  return parse_pipeline(text, settings_of(options), state.model, state.passes).status();
}

Result<std::vector<TemplateParameter>> Inside::parameters(const Device& device) {
  return declared_parameters(device.state_->pipeline_text);
}

const std::string& Inside::pipeline_name(const Device& device) {
  return device.state_->pipeline_text.name;
}

Result<Compilation> Inside::specialize(const Device& device, Compilation compilation,
                                       const CompileOptions& options) {
  const Device::State& state = *device.state_;
  std::optional<Pipeline> own;
  if (options.pipeline || options.tune > 0 || !options.parameters.empty()) {
    const SourceText& text = options.pipeline ? *options.pipeline : state.pipeline_text;
    STRIA_RETURN_IF_ERROR(stria::check_parameters(text, options));
    STRIA_ASSIGN(own, parse_pipeline(text, settings_of(options), state.model, state.passes));
  }
  const Pipeline& pipeline = own ? *own : state.pipeline;
  CandidateTimer timer(device, pipeline, options);
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.measure = &timer.measure();
  how.after_step = [&](int position, const StepReport& report, const stripe::Program& after) {
    timer.runs(static_cast<size_t>(position) + 1);
    if (options.keep_stages) compilation.add_stage(report.step, "stripe", stripe::print(after));
  };
  auto reproducer = [&](size_t begin, size_t end, const stripe::Program& before) {
    Reproducer out;
    out.device = device.name();
    out.fast_math = options.fast_math;
    out.verify_each = how.verify_each;
    out.pipeline = pipeline.to_json(begin, end);
    out.hw = state.model.to_string();
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
  auto steps = run_pipeline(compilation.device, pipeline, state.model, how);
  if (options.recorder != nullptr) options.recorder->end();
  if (!steps.ok())
    return steps.status().with_context(
        fmt::format("'{}' for {}", compilation.bound.name, device.name()));
  compilation.steps = std::move(*steps);
  compilation.device_text = stripe::print(compilation.device);
  return compilation;
}

Result<exec::LoadedProgram> Inside::build(const Device& device, const stripe::Program& program,
                                          const std::string& text, const CompileOptions& options) {
  const Device::State& state = *device.state_;
  const std::string json = fmt::format("{{\"fast_math\": {}, \"dump_source\": {}}}",
                                       options.fast_math, options.keep_stages);
  Reproducer reproducer;
  if (options.recorder != nullptr) {
    reproducer.device = device.name();
    reproducer.fast_math = options.fast_math;
    reproducer.build = true;
    reproducer.hw = state.model.to_string();
    reproducer.program = text;
    options.recorder->begin(reproducer.to_string());
  }
  auto loaded = exec::LoadedProgram::load(state.memory, program, text, json);
  if (options.recorder != nullptr) {
    options.recorder->end();
    reproducer.failure = loaded.status().to_string();
    // What the machine lacks, and what had too little time on it, no file shows again.
    const StatusCode code = loaded.status().code();
    const bool of_machine = code == StatusCode::unavailable || code == StatusCode::out_of_memory ||
                            code == StatusCode::deadline_exceeded;
    if (!loaded.ok() && !of_machine) options.recorder->failed(reproducer.to_string());
  }
  if (!loaded.ok())
    return loaded.status().with_context(
        fmt::format("the build of '{}' for {}", program.entry.name, device.name()));
  return loaded;
}

Result<Executable> Inside::load(const Device& device, Compilation compilation,
                                const CompileOptions& options) {
  auto state = std::make_shared<Executable::State>();
  state->device = device.name();
  state->order = device.state_->order;
  state->keep_sources = options.keep_stages;
  state->watch_kernels = options.watch_kernels;
  state->compilation = std::move(compilation);
  const Compilation& c = state->compilation;
  STRIA_ASSIGN(state->loaded, build(device, c.device, c.device_text, options));
  const exec::Plan& plan = state->loaded.plan();
  // Stripe that came without a Tile program is its own list of tensors.
  const bool bound = !c.bound.tensors.empty();
  state->inputs = bound ? infos_of(c.bound, c.bound.inputs) : infos_of(plan, plan.inputs);
  state->outputs = bound ? infos_of(c.bound, c.bound.outputs) : infos_of(plan, plan.outputs);
  STRIA_ASSIGN(state->plan_inputs, positions_of(plan, plan.inputs, state->inputs));
  STRIA_ASSIGN(state->plan_outputs, positions_of(plan, plan.outputs, state->outputs));
  Executable executable;
  executable.state_ = std::move(state);
  return executable;
}

Result<Executable> Device::compile(const Program& program, const InputTypes& inputs,
                                   const CompileOptions& options) const {
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options));
  STRIA_ASSIGN(Compilation compilation, Inside::specialize(*this, std::move(generic), options));
  return Inside::load(*this, std::move(compilation), options);
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
    STRIA_ASSIGN(compilation, Inside::specialize(*this, std::move(compilation), options));
  } else {
    compilation.device = compilation.generic;
    compilation.device_text = stripe::print(compilation.device);
  }
  return Inside::load(*this, std::move(compilation), options);
}

}  // namespace stria
