// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/compile_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/hwmodel/micro_kernels.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/reproducer.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/device_state.h"
#include "stria/runtime/executable_state.h"
#include "stria/runtime/host/device_limits.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/host/kept_plan.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

std::vector<TensorInfo> infos_of(const tile::BoundProgram& bound,
                                 const std::vector<tile::TensorId>& ids) {
  std::vector<TensorInfo> infos;
  for (tile::TensorId id : ids)
    infos.push_back(
        {bound.tensors[id].name, bound.tensors[id].outside_type(), bound.tensors[id].sizes});
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
    if (tensor.shape != memory_shape(infos[at].type, infos[at].sizes))
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

// Was anything chosen by its time on the device? It may be another choice next time.
bool has_timed(const std::vector<StepReport>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const StepReport& step) {
    return step.counters.contains("candidates_timed") || step.counters.contains("times_known");
  });
}

// Are the functions of the plugin given what they take (S21)? The step that bound a block to one
// has looked, but steps behind it may lay tensors out anew. Nothing else would find that: the
// function would be called with other strides than it was written for.
Status check_bound_functions(const stripe::Program& program, const HardwareModel& model) {
  if (!has_micro_kernels(model)) return Status();
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(model));
  stripe::VerifyOptions options = rules.options(&intrinsic_signatures());
  options.accesses = stripe::AccessRules::none();
  options.accesses.stencils = true;
  return stripe::verify(program, options)
      .with_context(
          "after the pipeline (a step behind 'tensorize' may have moved operands of a "
          "micro-kernel: put it before)");
}

// What a pipeline is rendered with.
TemplateSettings settings_of(const CompileOptions& options) {
  TemplateSettings out = options.parameters;
  out["tune"] = std::to_string(options.tune);
  return out;
}

}  // namespace

Status CompileDriver::check_parameters(const Device& device, const CompileOptions& options) {
  const Device::State& state = *device.state_;
  const PipelineSource source =
      options.pipeline ? PipelineSource(*options.pipeline) : state.pipeline_source;
  STRIA_RETURN_IF_ERROR(stria::check_parameters(source.text, options));
  // Their values are read where the pipeline is.
  return parse_pipeline(source, settings_of(options), state.model, state.passes).status();
}

ProgramNeeds CompileDriver::needs(const Compilation& compilation) {
  const auto name_of = [&](const stripe::Block& kernel) {
    for (const stripe::Refinement& ref : kernel.refs)
      if (compilation.binding != nullptr && is_written(ref))
        if (const std::string node = compilation.binding->node_of(ref.from); !node.empty())
          return node;
    return kernel.comments.empty() ? kernel.name : kernel.name + ": " + kernel.comments[0];
  };
  return program_needs(compilation.generic, name_of);
}

std::vector<DeviceLack> CompileDriver::lacks(const Device& device, const Compilation& compilation) {
  return device_lacks(needs(compilation), device.state_->model, device.info().memory_bytes);
}

Status CompileDriver::check_device(const Device& device, const Compilation& compilation) {
  const std::vector<DeviceLack> lacking = lacks(device, compilation);
  if (lacking.empty()) return Status();
  return unsupported("{} ({}) cannot run '{}': it lacks {}", device.name(), device.info().name,
                     compilation.bound.name, text_of(lacking));
}

Result<Compilation> CompileDriver::specialize(const Device& device, Compilation compilation,
                                              const CompileOptions& options) {
  STRIA_RETURN_IF_ERROR(check_device(device, compilation));
  const Device::State& state = *device.state_;
  std::optional<Pipeline> own;
  if (options.pipeline || options.tune > 0 || !options.parameters.empty()) {
    const PipelineSource source =
        options.pipeline ? PipelineSource(*options.pipeline) : state.pipeline_source;
    STRIA_RETURN_IF_ERROR(stria::check_parameters(source.text, options));
    STRIA_ASSIGN(own, parse_pipeline(source, settings_of(options), state.model, state.passes));
  }
  const Pipeline& pipeline = own ? *own : state.pipeline;
  compilation.flushed = state.model.flushed_subnormals;
  CandidateTimer timer(device, pipeline, options);
  PipelineOptions how;
  // A verifier, and who looks at each stage, needs the passes to run.
  std::optional<KeptPlan> plan;
  if (!own && !options.keep_stages && !how.verify_each) {
    plan.emplace(compilation.generic, pipeline, state.model);
    if (std::optional<stripe::Program> kept = plan->find(compilation.device_text)) {
      compilation.device = *std::move(kept);
      return compilation;
    }
  }
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.measure = &timer.measure();
  how.after_step = [&](int position, const StepReport& report, const stripe::Program& after) {
    timer.runs(static_cast<size_t>(position) + 1);
    if (!options.keep_stages) return;
    compilation.add_stage(report.step, "stripe", stripe::print(after));
    const hal::NamedText& made = compilation.stages.back();
    if (options.recorder != nullptr) options.recorder->stage(made.name, made.text);
  };
  auto reproducer = [&](size_t begin, size_t end, const stripe::Program& before) {
    Reproducer out;
    out.device = device.name();
    out.fast_math = options.fast_math;
    out.no_peepholes = options.no_peepholes;
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
  const auto begin = std::chrono::steady_clock::now();
  auto steps = run_pipeline(compilation.device, pipeline, state.model, how);
  if (options.recorder != nullptr) options.recorder->end();
  if (!steps.ok())
    return steps.status().with_context(
        fmt::format("'{}' for {}", compilation.bound.name, device.name()));
  STRIA_RETURN_IF_ERROR(
      check_bound_functions(compilation.device, state.model)
          .with_context(fmt::format("'{}' for {}", compilation.bound.name, device.name())));
  compilation.steps = std::move(*steps);
  compilation.device_text = stripe::print(compilation.device);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (plan && took.count() >= KeptPlan::kShortMs && !has_timed(compilation.steps))
    plan->keep(compilation.device_text);
  return compilation;
}

Result<exec::LoadedProgram> CompileDriver::build(const Device& device,
                                                 const stripe::Program& program,
                                                 const std::string& text,
                                                 const CompileOptions& options) {
  const Device::State& state = *device.state_;
  const std::string json =
      fmt::format("{{\"fast_math\": {}, \"dump_source\": {}{}}}", options.fast_math,
                  options.keep_stages, options.no_peepholes ? ", \"no_peepholes\": true" : "");
  Reproducer reproducer;
  if (options.recorder != nullptr) {
    reproducer.device = device.name();
    reproducer.fast_math = options.fast_math;
    reproducer.no_peepholes = options.no_peepholes;
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

Result<Executable> CompileDriver::load(const Device& device, Compilation compilation,
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
  // Those that the program brings along stand behind those of callers.
  const auto callers = std::stable_partition(
      state->inputs.begin(), state->inputs.end(), [&](const TensorInfo& info) {
        return c.binding == nullptr || !c.binding->values.contains(info.name);
      });
  STRIA_ASSIGN(state->plan_inputs, positions_of(plan, plan.inputs, state->inputs));
  STRIA_ASSIGN(state->plan_outputs, positions_of(plan, plan.outputs, state->outputs));
  if (c.binding != nullptr) {
    const auto count = static_cast<size_t>(callers - state->inputs.begin());
    state->bound.resize(state->inputs.size() - count);
    for (const size_t position : state->plan_inputs) {
      if (position < count) continue;
      const TensorInfo& info = state->inputs[position];
      STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
      STRIA_RETURN_IF_ERROR(
          tensor.write(c.binding->values.at(info.name)->bytes()).with_context(info.name));
      state->bound[position - count] = std::move(tensor);
    }
    state->inputs.resize(count);
    for (auto* infos : {&state->inputs, &state->outputs})
      for (TensorInfo& info : *infos) info.name = c.binding->shown(info.name);
  }
  Executable executable;
  executable.state_ = std::move(state);
  return executable;
}

}  // namespace stria
