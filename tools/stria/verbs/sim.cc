// SPDX-License-Identifier: Apache-2.0
#include "verbs/sim.h"

#include <cstdio>
#include <filesystem>
#include <set>

#include "inputs/onnx_inputs.h"
#include "inputs/open_device.h"
#include "inputs/pipeline_file.h"
#include "inputs/program_inputs.h"
#include "inputs/template_settings.h"
#include "message.h"
#include "output_files.h"
#include "program/part_checks.h"
#include "report.h"
#include "report/simulation_report.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/files/sha256.h"
#include "stria/hwmodel/machine_roles.h"
#include "stria/pass/pipeline.h"
#include "stria/runtime/check.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/stripe/text/printer.h"
#include "validate/scalesim_topology.h"
#include "validate/validation.h"
#include "values/program_run.h"

namespace stria::command {
namespace {

// The model and the pipeline of a command line: files, and what they say.
struct Target {
  SourceText hw;
  std::vector<SourceText> overlays;  // refine the model, the last one first
  PipelineSource pipeline;
  TemplateSettings settings;
  HardwareModel model = empty_hardware_model();
  Pipeline steps;
};

// A device whose pipeline names units by what they do (stria/hwmodel/machine_roles.h): it serves
// each model that has what it needs.
constexpr const char* kServesAnyModel = "tpu_like";
constexpr const char* kMap = "MAP";

// What the model lacks for such a pipeline; "" if nothing.
std::string lacking(const HardwareModel& model) {
  const MachineRoles roles = roles_of(model);
  if (roles.main.empty()) return "a memory without 'policy': 'cache' in which tensors could lie";
  if (roles.transfer.empty() || roles.scratchpad.empty())
    return fmt::format(
        "a transfer unit on buses from '{}' to a memory near the execution units and back",
        roles.main);
  if (roles.products.empty() || roles.rest.empty()) return "an execution unit";
  return "";
}

// Without --hw it is the model of the simulator's first device; without --pipeline, the pipeline
// that serves any model.
Outcome find_files(const SimOptions& options, Target& target) {
  std::string hw = options.hw.empty() ? "" : options.hw[0], pipeline = options.pipeline;
  if (hw.empty() || pipeline.empty()) {
    RuntimeOptions how = runtime_options();
    how.only_plugins = {"sim"};
    const Runtime runtime(how);
    const auto& records = Inside::records(runtime);
    if (records.empty() || !records[0].plugin.valid() || records[0].devices.empty())
      return Outcome(ExitCode::device,
                     records.empty() || records[0].status().ok()
                         ? not_found("there is no plugin 'sim' whose model and pipeline could be "
                                     "taken; give --hw and --pipeline")
                         : records[0].status());
    if (hw.empty()) {
      STRIA_OR_FAIL(hw, ExitCode::device, records[0].plugin.hw_model(records[0].devices[0].kind));
    }
    if (pipeline.empty()) {
      STRIA_OR_FAIL(SourceText text, ExitCode::device,
                    records[0].plugin.read_pipeline(kServesAnyModel));
      target.pipeline =
          PipelineSource(std::move(text), [plugin = records[0].plugin](const std::string& name) {
            return plugin.read_fragment(kServesAnyModel, name);
          });
      target.pipeline.of_manifest = true;
    }
  }
  STRIA_OR_FAIL(target.hw, ExitCode::program, read_source(hw, kMaxJsonBytes));
  for (size_t i = 1; i < options.hw.size(); ++i) {
    STRIA_OR_FAIL(SourceText overlay, ExitCode::program, read_source(options.hw[i], kMaxJsonBytes));
    target.overlays.push_back(std::move(overlay));
  }
  if (!pipeline.empty()) {
    STRIA_OR_FAIL(target.pipeline, ExitCode::program, read_pipeline(pipeline));
  }
  return Outcome();
}

// All that the pipeline was made of: its file and the fragments that it includes.
std::string text_of(const Pipeline& pipeline, const SourceText& file) {
  std::string out = file.text;
  for (const SourceText& fragment : pipeline.fragments) out += fragment.text;
  return out;
}

std::string text_of(const Target& target) {
  std::string out = target.hw.text;
  for (const SourceText& overlay : target.overlays) out += overlay.text;
  return out;
}

// --map is the parameter MAP of the pipeline.
Outcome set_map(const SimOptions& options, Target& target) {
  if (options.map.empty()) return Outcome();
  if (target.settings.contains(kMap))
    return Outcome(ExitCode::usage,
                   invalid_argument("--map {} and --set {}=… say the same", options.map, kMap));
  STRIA_OR_FAIL(const std::set<std::string> known, ExitCode::program,
                settable_parameters(target.pipeline.text));
  if (!known.contains(kMap))
    return Outcome(ExitCode::usage,
                   not_found("--map {}: '{}' maps in one way only (it has no parameter {})",
                             options.map, target.pipeline.text.name, kMap));
  target.settings[kMap] = options.map;
  return Outcome();
}

Outcome read_target(const SimOptions& options, Target& target) {
  STRIA_FAIL_IF(parse_settings(options.settings, target.settings));
  STRIA_FAIL_IF(find_files(options, target));
  STRIA_FAIL_IF(set_map(options, target));
  STRIA_FAIL_IF(check_settings(target.settings, {target.hw, target.pipeline.text}, "--hw"));
  STRIA_OR_FAIL(target.model, ExitCode::program,
                load_hardware_model(target.hw, target.settings, {}, target.overlays));
  // Before a step of the pipeline stumbles over it.
  STRIA_FAIL_IF_ERROR(ExitCode::program, sim::check_model(target.model));
  if (const std::string lacks = lacking(target.model); options.pipeline.empty() && !lacks.empty())
    return Outcome(ExitCode::program,
                   not_found("{}: the model '{}' does not have {}; without it, give a --pipeline",
                             target.hw.name, target.model.name, lacks));
  return parse_pipeline(target.pipeline, target.settings, target.model, target.steps);
}

// The program with an input for each parameter: what --input gives, else random numbers of the
// sizes that --shape gives.
Outcome read_onnx_program(const SimOptions& options, GivenInputs& given, Program& program,
                          ReadInputs& in, Compilation& generic) {
  STRIA_FAIL_IF(read_program(options.program, options.function, given,
                             options.timing_only ? Wanted::sizes : Wanted::random, program, in));
  const CompileOptions how{.constants = {options.constants.begin(), options.constants.end()}};
  STRIA_FAIL_IF(lower(program, in.types, how, generic));
  print_diagnostics(generic.warnings);
  return Outcome();
}

Outcome read_tile_program(const SimOptions& options, GivenInputs& given, Program& program,
                          ReadInputs& in, Compilation& generic) {
  STRIA_FAIL_IF(
      read_program(options.program, options.function, given, Wanted::random, program, in));
  const std::vector<std::string> input_names = given.source_names();
  const CompileOptions how{.constants = {options.constants.begin(), options.constants.end()}};
  const auto check_names = [&]() -> Outcome {
    STRIA_FAIL_IF(check_input_names(program, "--input", input_names));
    return check_input_names(program, "--shape", given.shape_names());
  };
  InputTypes types = types_of_shapes(program, given);
  if (!options.timing_only) {
    TensorSource random;
    random.kind = TensorSource::Kind::random;
    for (const ProgramInput& input : program.inputs()) {
      ++random.seed;
      const auto type = types.find(input.name);
      if (type == types.end() ||
          std::find(input_names.begin(), input_names.end(), input.name) != input_names.end())
        continue;
      random.type = type->second.type;
      given.sources.push_back({input.name, random});
    }
    STRIA_FAIL_IF(read_inputs(program, given, in));
    if (!in.missing.ok()) {
      STRIA_FAIL_IF(check_names());
      return Outcome(ExitCode::program, in.missing);
    }
    types = in.types;
  }
  for (const ProgramInput& input : program.inputs()) {
    if (types.count(input.name)) continue;
    STRIA_FAIL_IF(check_names());  // perhaps only misspelled
    return Outcome(ExitCode::program,
                   invalid_argument("'{}' needs sizes for its input {}: --shape {}=…",
                                    program.name(), input.text(), input.name));
  }
  STRIA_FAIL_IF(lower(program, types, how, generic));
  print_diagnostics(generic.warnings);
  return check_names();
}

// `written` is set to the program as it is written, without what its prologue does.
Outcome specialize(const Target& target, Compilation& compilation, stripe::Program& written) {
  PipelineOptions how;
  how.evaluate = &intrinsic_evaluator();
  written = compilation.generic;
  how.after_step = [&](int, const StepReport& report, const stripe::Program& program) {
    if (report.pass == "split_prologue") written = program;
  };
  compilation.device = compilation.generic;
  auto steps = run_pipeline(compilation.device, target.steps, target.model, how);
  STRIA_FAIL_IF_ERROR(ExitCode::program, steps.status());
  compilation.steps = std::move(*steps);
  print_undecided(compilation.steps);
  return Outcome();
}

Outcome run_values(const Compilation& compilation, const sim::PartOrder& order,
                   const ReadInputs& in) {
  std::map<std::string, void*> memory;
  std::vector<HostTensor> inputs, weights, outputs;
  const tile::BoundProgram& bound = compilation.bound;
  const ProgramBinding* const binding = compilation.binding.get();
  for (const tile::TensorId id : bound.inputs) {
    const std::string& name = bound.tensors[id].name;
    const bool is_bound = binding != nullptr && binding->values.contains(name);
    const HostTensor& from = is_bound ? *binding->values.at(name) : in.tensors[inputs.size()];
    STRIA_OR_FAIL(HostTensor copy, ExitCode::program, from.clone());
    memory[name] = copy.data();
    (is_bound ? weights : inputs).push_back(std::move(copy));
  }
  for (size_t tensor : bound.outputs) {
    const tile::BoundTensor& like = bound.tensors[tensor];
    STRIA_OR_FAIL(HostTensor made, ExitCode::program,
                  HostTensor::create(like.type, like.sizes, like.name));
    outputs.push_back(std::move(made));
    memory[like.name] = outputs.back().data();
  }
  STRIA_FAIL_IF_ERROR(ExitCode::device, sim::run_program(compilation.device, order, memory));
  STRIA_OR_FAIL(std::vector<OutputCheck> checks, ExitCode::program,
                check_outputs(compilation, inputs, outputs, std::nullopt));
  std::string wrong;
  for (const OutputCheck& check : checks) {
    std::printf("%s\n", describe_check(check).c_str());
    if (const std::string few = describe_many_undecided(check); !few.empty()) print_message(few);
    if (!check.report.passed() && wrong.empty()) wrong = check.report.worst_text;
  }
  if (wrong.empty()) return Outcome();
  return Outcome(ExitCode::device, make_error(StatusCode::data_loss, "wrong results: {}", wrong));
}

// What is written into the folder of --report.
std::vector<std::string> report_names(const SimOptions& options) {
  std::vector<std::string> names = {"report.json", "kernels.csv"};
  if (options.fidelity != "roofline") names.push_back("trace.json");
  return names;
}

Outcome check_report_files(const SimOptions& options, const GivenInputs& given,
                           const Pipeline& pipeline) {
  if (options.report.empty()) return Outcome();
  std::vector<NamedFile> read = files_of(given), written;
  read.push_back({"PROG", options.program});
  for (const std::string& file : options.hw) read.push_back({"--hw", file});
  if (!options.pipeline.empty()) read.push_back({"--pipeline", options.pipeline});
  for (const SourceText& fragment : pipeline.fragments)
    read.push_back({"fragment of --pipeline", fragment.name});
  for (const std::string& name : report_names(options))
    written.push_back({"--report", (std::filesystem::path(options.report) / name).string()});
  STRIA_FAIL_IF(check_files_differ(written, read));
  STRIA_FAIL_IF_ERROR(ExitCode::program, check_folder_writable(options.report));
  return Outcome();
}

Outcome write_report(const SimOptions& options, const sim::SimulationReport& report) {
  const std::filesystem::path folder = options.report;
  std::vector<FileText> files;
  for (const std::string& name : report_names(options))
    files.push_back({folder / name, name == "report.json"   ? sim::report_json(report)
                                    : name == "kernels.csv" ? sim::kernels_csv(report)
                                                            : sim::trace_json(report)});
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files, folder));
  return Outcome();
}

// A program of the validation, mapped for another model by the target's pipeline.
Outcome map_program(const Target& target, const std::string& tile,
                    const std::vector<sim::ValidationInput>& inputs, const HardwareModel& model,
                    stripe::Program& mapped) {
  STRIA_OR_FAIL(const Program program, ExitCode::program, Program::from_tile({"validation", tile}));
  InputTypes types;
  for (const sim::ValidationInput& input : inputs) types[input.name] = {input.type, input.sizes};
  Compilation compilation;
  STRIA_FAIL_IF(lower(program, types, {}, compilation));
  Target of = target;
  of.model = model;
  STRIA_FAIL_IF(parse_pipeline(of.pipeline, of.settings, of.model, of.steps));
  stripe::Program written;
  STRIA_FAIL_IF(specialize(of, compilation, written));
  mapped = std::move(compilation.device);
  return Outcome();
}

Outcome print_validation(const SimOptions& options) {
  if (options.hw.size() > 1)
    return Outcome(
        ExitCode::usage,
        invalid_argument("--validate: '{}' refines a model, but the cases have their own",
                         options.hw[1]));
  Target target;
  STRIA_FAIL_IF(find_files(options, target));
  const auto map = [&](const std::string& tile, const std::vector<sim::ValidationInput>& inputs,
                       const HardwareModel& model) -> Result<stripe::Program> {
    stripe::Program mapped;
    const Outcome outcome = map_program(target, tile, inputs, model, mapped);
    if (!outcome.ok()) return outcome.status();
    return mapped;
  };
  STRIA_OR_FAIL(const std::vector<sim::ValidationCase> cases, ExitCode::program,
                sim::validate(target.hw, map));
  std::fputs(sim::validation_table(cases).c_str(), stdout);
  for (const sim::ValidationCase& one : cases)
    if (!one.met())
      return Outcome(ExitCode::device,
                     make_error(StatusCode::data_loss, "'{}' is not what is expected", one.name));
  return Outcome();
}

Outcome print_topology(const SimOptions& options) {
  STRIA_OR_FAIL(const SystolicArray array, ExitCode::usage,
                sim::parse_array(options.array, options.dataflow));
  STRIA_OR_FAIL(const SourceText file, ExitCode::program,
                read_source(options.topology, kMaxJsonBytes));
  STRIA_OR_FAIL(const std::vector<sim::TopologyLayer> layers, ExitCode::program,
                sim::read_topology(file));
  std::fputs(sim::topology_table(layers, array).c_str(), stdout);
  return Outcome();
}

}  // namespace

Outcome sim(const SimOptions& options) {
  if (options.validate) return print_validation(options);
  if (!options.topology.empty()) return print_topology(options);
  if (options.buses == "burst" && options.fidelity != "event")
    return Outcome(ExitCode::usage,
                   invalid_argument("--buses burst: --fidelity {} knows fair rates alone; bursts "
                                    "are of --fidelity event",
                                    options.fidelity));
  // Wrong use is said before anything is read; fragments are known when the pipeline has been.
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  STRIA_FAIL_IF(check_report_files(options, given, Pipeline()));
  Target target;
  STRIA_FAIL_IF(read_target(options, target));
  STRIA_FAIL_IF(check_report_files(options, given, target.steps));
  Program program;
  ReadInputs in;
  Compilation compilation;
  STRIA_FAIL_IF((is_onnx(options.program) ? read_onnx_program : read_tile_program)(
      options, given, program, in, compilation));
  stripe::Program written;
  STRIA_FAIL_IF(specialize(target, compilation, written));

  sim::SimulationReport report;
  report.program = compilation.bound.name;
  report.fidelity = options.fidelity;
  report.buses = options.buses;
  report.machine_bounds = cost::machine_bounds(written, target.model, roles_of(target.model).main);
  for (const StepReport& step : compilation.steps)
    for (const SearchProof& one : step.searches)
      report.searches.push_back({one.block, one.search, one.looked_at, one.cost, one.least});
  report.settings = {target.settings.begin(), target.settings.end()};
  report.hashes = {{"program", hal::sha256(program.text())},
                   {"generic_stripe", hal::sha256(stripe::print(compilation.generic))},
                   {"device_stripe", hal::sha256(stripe::print(compilation.device))},
                   {"hw", hal::sha256(text_of(target))},
                   {"pipeline", hal::sha256(text_of(target.steps, target.pipeline.text))}};
  sim::PartOrder order;
  if (!options.functional_only) {
    sim::PartOptions how;
    how.fidelity = options.fidelity == "roofline" ? sim::Fidelity::roofline
                   : options.fidelity == "cycle"  ? sim::Fidelity::cycle
                                                  : sim::Fidelity::event;
    how.events.buses = options.buses == "burst" ? sim::BusModel::burst : sim::BusModel::fluid;
    how.events.skip_ahead = !options.no_skip_ahead;
    const std::pair<const char*, const stripe::Block*> parts[] = {
        {"prologue", compilation.device.prologue()}, {"main", compilation.device.main()}};
    for (const auto& [name, part] : parts) {
      if (!part || part->stmts.empty()) continue;
      STRIA_OR_FAIL(sim::PartSimulation run, ExitCode::program,
                    sim::simulate_part(compilation.device, *part, target.model, how));
      (part == compilation.device.main() ? order.main : order.prologue) = run.order();
      report.parts.push_back({name, std::move(run)});
    }
  }
  // A result that is wrong is said before its times are.
  if (!options.timing_only) STRIA_FAIL_IF(run_values(compilation, order, in));
  if (options.functional_only) return Outcome();
  if (!options.report.empty()) STRIA_FAIL_IF(write_report(options, report));
  std::fputs(sim::summary(report).c_str(), stdout);
  return Outcome();
}

}  // namespace stria::command
