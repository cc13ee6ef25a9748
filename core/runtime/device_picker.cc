// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device_picker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/cost/program/program_time.h"
#include "stria/exec/plan.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/experimental.h"
#include "stria/hwmodel/machine_roles.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

// "operations 10.1, L2 from DRAM 3.2, launch 0.1", in microseconds; terms that round to 0 are left
// out.
std::string terms_of(const cost::PredictedTime& time) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& name, double seconds) {
    if (seconds * 1e6 >= 0.05) out.push_back(fmt::format("{} {:.1f}", name, seconds * 1e6));
  };
  for (const cost::PredictedTime::Term& term : time.terms) add(term.name, term.seconds);
  add("launch", time.launch_seconds);
  return join(out, ", ");
}

std::vector<Prediction::Kernel> kernels_of(const cost::ProgramTime& times) {
  std::vector<Prediction::Kernel> out;
  for (const cost::ProgramTime::Kernel& from : times.kernels) {
    Prediction::Kernel& to = out.emplace_back();
    to.name = from.name;
    to.prologue = from.prologue;
    if (!from.time) continue;
    to.time = {from.time->seconds, from.time->least_seconds, from.time->most_seconds};
    to.terms = terms_of(*from.time);
  }
  return out;
}

// Device memory that a run has at once: tensors of the caller, what the prologue made, temporaries.
// 0 if the program has no plan.
uint64_t peak_bytes_of(const Compilation& compilation) {
  const auto kernels = interpret_for_plugin(compilation.device_text);
  if (!kernels.ok()) return 0;
  const Result<exec::Plan> plan = exec::make_plan(compilation.device, (*kernels)->kernels());
  if (!plan.ok()) return 0;
  uint64_t bytes = plan->derived_bytes + plan->main.arena_bytes;
  for (const exec::PlannedTensor& tensor : plan->tensors)
    if (tensor.role == exec::TensorRole::input || tensor.role == exec::TensorRole::output)
      bytes += tensor.bytes;
  return bytes;
}

std::optional<Prediction> by_plugin(const Device& device, const Compilation& compilation) {
  const Result<hal::Estimate> said =
      hal::estimate(Inside::hal_device(device), compilation.device_text);
  if (!said.ok() || said->time_ns == 0) return std::nullopt;
  const auto seconds = [](uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
  Prediction out;
  out.by = PredictedBy::plugin;
  out.run = {seconds(said->time_ns), seconds(said->low_time_ns), seconds(said->high_time_ns)};
  // 0 is "not known", and an interval holds what it is an interval of.
  if (said->low_time_ns == 0) out.run.least = out.run.seconds;
  out.run.least = std::min(out.run.least, out.run.seconds);
  out.run.most = std::max(out.run.most, out.run.seconds);
  const double prologue = seconds(said->prologue_ns);
  out.prologue = {prologue, prologue, prologue};
  out.build_s = seconds(said->build_ns);
  out.energy_j = static_cast<double>(said->energy_pj) * 1e-12;
  return out;
}

// What costs say of device Stripe. nullopt: nobody knows.
std::optional<Prediction> by_model(const cost::ProgramTime& times) {
  if (times.main.seconds <= 0) return std::nullopt;
  Prediction out;
  out.by = PredictedBy::model;
  out.run = times.main;
  out.prologue = times.prologue;
  out.kernels = kernels_of(times);
  out.unknown_kernels = times.unknown;
  return out;
}

// What holds whoever predicts: memory, and the build, which begins with passes that took so long.
void add_costs(const Compilation& compilation, const HardwareModel& model, size_t kernels,
               double passes_s, std::vector<Prediction>& predictions) {
  const uint64_t peak_bytes = peak_bytes_of(compilation);
  const double builds = model.build_ms * 1e-3 * static_cast<double>(kernels);
  for (Prediction& prediction : predictions) {
    prediction.peak_bytes = peak_bytes;
    if (prediction.build_s <= 0 && builds > 0) prediction.build_s = passes_s + builds;
  }
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A kind of device, as a plugin has it.
struct KnownKind {
  const hal::PluginRecord* plugin = nullptr;
  std::string kind;
  std::string to_string() const { return fmt::format("{}:{}", plugin->id, kind); }
};

std::vector<KnownKind> kinds_of(const std::vector<hal::PluginRecord>& plugins) {
  std::vector<KnownKind> out;
  for (const hal::PluginRecord& plugin : plugins)
    if (plugin.status().ok() && plugin.plugin.valid())
      for (const hal::DeviceKind& kind : plugin.plugin.manifest().devices)
        out.push_back({&plugin, kind.name});
  return out;
}

// Of the units that pipelines decide about: what caches hold nobody places there.
std::vector<std::string> unit_names(const HardwareModel& model) {
  std::vector<std::string> out;
  for (const ExecutionUnit& unit : model.executors) out.push_back(unit.name);
  for (const MemoryUnit& unit : model.memories)
    if (unit.policy != MemoryPolicy::lru) out.push_back(unit.name);
  for (const TransferUnit& unit : model.transfers) out.push_back(unit.name);
  return out;
}

// Has the kind's own model, with what one of its devices reports, units of these names?
bool has_units(const KnownKind& kind, const std::vector<std::string>& units) {
  const Result<SourceText> text = kind.plugin->plugin.read_hw_model(kind.kind);
  std::string reported;
  for (const hal::DeviceInfo& device : kind.plugin->devices)
    if (device.kind == kind.kind && reported.empty()) reported = device.properties;
  const Result<HardwareModel> model =
      text.ok() ? load_hardware_model(*text, {}, reported) : text.status();
  return model.ok() && unit_names(*model) == units;
}

// Whose pipeline the model gets.
Result<KnownKind> kind_for(const std::vector<hal::PluginRecord>& plugins, const ModelFile& given,
                           const HardwareModel& model) {
  const std::vector<KnownKind> all = kinds_of(plugins);
  std::vector<std::string> names;
  for (const KnownKind& one : all) {
    names.push_back(one.to_string());
    if (given.kind.empty() ? has_units(one, unit_names(model))
                           : given.kind == names.back() || given.kind == one.kind)
      return one;
  }
  const std::string known = join(names, ", ");
  if (!given.kind.empty())
    return not_found("{}: no plugin has devices of the kind '{}'{} (kinds: {})", given.hw.name,
                     shown_name(given.kind), did_you_mean(given.kind, names), known);
  return not_found(
      "{}: no kind of device has a model with units of these names ({}): say whose pipeline the "
      "model gets, one of {}",
      given.hw.name, join(unit_names(model), ", "), known);
}

Result<Pipeline> pipeline_of(const KnownKind& kind, const HardwareModel& model) {
  PipelineSource source;
  STRIA_ASSIGN(source.text, kind.plugin->plugin.read_pipeline(kind.kind));
  source.of_manifest = true;
  source.own = [&kind](const std::string& name) {
    return kind.plugin->plugin.read_fragment(kind.kind, name);
  };
  PassRegistry passes = passes::pass_registry();
  passes.passes.push_back(make_plugin_pass(hal::Device()));
  return parse_pipeline(source, {}, model, passes);
}

uint64_t main_memory_bytes(const HardwareModel& model) {
  const MemoryUnit* memory = model.find_memory(roles_of(model).main);
  return memory == nullptr ? 0 : static_cast<uint64_t>(memory->size_bytes * memory->count);
}

}  // namespace

std::optional<Prediction> DevicePicker::by_bounds(const Compilation& generic,
                                                  const HardwareModel& model) {
  const std::optional<TimeRange> run = cost::program_bound(generic.generic, model);
  if (!run) return std::nullopt;
  Prediction out;
  out.run = *run;
  return out;
}

Result<Prediction> DevicePicker::measured(const Device& device, const Compilation& generic,
                                          const CompileOptions& options, double seconds) {
  constexpr size_t kFewest = 3, kMost = 1000;
  STRIA_ASSIGN(const Compilation compilation, CompileDriver::specialize(device, generic, options));
  // Its pipeline has no steps left.
  const Pipeline none;
  CandidateTimer timer(device, none, options);
  STRIA_ASSIGN(const ReadyCandidate ready, timer.ready(compilation.device));
  STRIA_RETURN_IF_ERROR(ready.run(1).status());  // warms up
  std::vector<double> runs;
  const Clock::time_point begin = Clock::now();
  while (runs.size() < kFewest || (runs.size() < kMost && seconds_since(begin) < seconds)) {
    const Clock::time_point start = Clock::now();
    STRIA_RETURN_IF_ERROR(ready.run(1).status());
    runs.push_back(seconds_since(start));
  }
  std::sort(runs.begin(), runs.end());
  Prediction out;
  out.by = PredictedBy::measured;
  out.run = {runs[runs.size() / 2], runs[runs.size() / 20],
             runs[runs.size() - 1 - runs.size() / 20]};
  return out;
}

Result<std::vector<Prediction>> DevicePicker::of_device(const Device& device,
                                                        const Compilation& generic,
                                                        const CompileOptions& options) {
  const Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(const Compilation compilation, CompileDriver::specialize(device, generic, options));
  const double passes = seconds_since(begin);
  const HardwareModel& model = Inside::model(device);
  const cost::ProgramTime times = cost::program_time(compilation.device, model);
  std::vector<Prediction> out;
  if (std::optional<Prediction> known = by_model(times)) out.push_back(*std::move(known));
  if (std::optional<Prediction> said = by_plugin(device, compilation))
    out.push_back(*std::move(said));
  add_costs(compilation, model, times.kernels.size(), passes, out);
  return out;
}

Result<PickedModel> DevicePicker::of_model(const std::vector<hal::PluginRecord>& plugins,
                                           const ModelFile& given, const Compilation& generic,
                                           bool bounds_only) {
  STRIA_ASSIGN(const HardwareModel model, load_hardware_model(given.hw));
  STRIA_ASSIGN(const KnownKind kind, kind_for(plugins, given, model));
  PickedModel out;
  out.file = given.hw.name;
  out.name = model.name;
  out.kind = kind.to_string();
  out.memory_bytes = main_memory_bytes(model);
  const auto pipeline = pipeline_of(kind, model);
  if (!pipeline.ok())
    return pipeline.status().with_context(
        fmt::format("{}: the pipeline of {}", given.hw.name, out.kind));
  out.objections = lacks_of(CompileDriver::needs(generic), model.lacking_types, out.memory_bytes);
  if (std::optional<Prediction> bounds = by_bounds(generic, model))
    out.predictions.push_back(*std::move(bounds));
  if (bounds_only || !out.kept()) return out;
  const Clock::time_point begin = Clock::now();
  Compilation compilation = generic;
  compilation.device = generic.generic;
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  if (const auto steps = run_pipeline(compilation.device, *pipeline, model, how); !steps.ok()) {
    out.objections.push_back({Gate::build, std::nullopt, hal::one_line(steps.status().message())});
    return out;
  }
  compilation.device_text = stripe::print(compilation.device);
  const cost::ProgramTime times = cost::program_time(compilation.device, model);
  std::vector<Prediction> known;
  if (std::optional<Prediction> said = by_model(times)) known.push_back(*std::move(said));
  if (known.empty()) out.trouble = "the model lacks rates";
  add_costs(compilation, model, times.kernels.size(), seconds_since(begin), known);
  for (Prediction& one : known) out.predictions.push_back(std::move(one));
  return out;
}

}  // namespace stria
