// SPDX-License-Identifier: Apache-2.0
#include "verbs/opt.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "inputs/pipeline_file.h"
#include "inputs/template_settings.h"
#include "message.h"
#include "pass_pages.h"
#include "repeat/replay_file.h"
#include "repeat/reproducer_file.h"
#include "report.h"
#include "stria/base/text.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/interp/explore.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/pipeline.h"
#include "stria/pass/reproducer.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::command {
namespace {

Status verify_program(const stripe::Program& program, const std::optional<HardwareModel>& model,
                      const std::string& name) {
  ModelRules rules;
  if (model) {
    STRIA_ASSIGN(rules, ModelRules::of(*model));
  }
  const stripe::VerifyOptions options = rules.options(&intrinsic_signatures());
  stripe::VerifyReport report;
  STRIA_RETURN_IF_ERROR(stripe::verify(program, options, &report).with_context(name));
  if (!report.warnings.empty())
    print_diagnostics(fmt::format("{}: warning: {}", name, describe_undecided(report.warnings)));
  return Status();
}

// `name` becomes today's name.
Outcome find_pass(const PassRegistry& registry, std::string& name, const PassInfo*& found) {
  found = registry.find(name);
  if (found != nullptr && found->name != name)
    print_message(former_name_note("--explain: '" + name + "'", found->name));
  if (found != nullptr) {
    name = found->name;
    return Outcome();
  }
  std::vector<std::string> names;
  for (const PassInfo& pass : registry.passes) names.push_back(pass.name);
  return Outcome(ExitCode::usage, not_found("--explain: there is no pass '{}'{} (the passes: {})",
                                            name, did_you_mean(name, names), join(names, ", ")));
}

// Runs the pipeline and prints what it is asked to print on the way.
Outcome run_passes(const OptOptions& options, const Pipeline& pipeline, const HardwareModel& model,
                   stripe::Program& program, ReproducerFile& file) {
  PipelineOptions how;
  how.verify_each = true;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.explain = options.explain;
  how.stop_after = options.stop_after;
  how.after_step = [&](int position, const StepReport& report, const stripe::Program& after) {
    if (!options.explain.empty() && report.pass == options.explain)
      std::fprintf(stderr, "step %d '%s': %s\n", position, report.step.c_str(),
                   report.to_string(true).c_str());
    if (options.print_after_all)
      std::printf("// ---- after step %d '%s': %s\n%s\n", position, report.step.c_str(),
                  report.to_string().c_str(), stripe::print(after).c_str());
  };
  auto reproducer = [&](size_t begin, size_t end, const stripe::Program& before) {
    Reproducer out;
    out.verify_each = true;
    out.pipeline = pipeline.to_json(begin, end);
    out.hw = model.to_string();
    out.program = stripe::print(before);
    return out;
  };
  how.on_failure = [&](size_t step, const stripe::Program& before, const Status& failure) {
    Reproducer failed = reproducer(step, step + 1, before);
    failed.failure = failure.to_string();
    file.failed(failed.to_string());
  };
  file.begin(reproducer(0, pipeline.steps.size(), program).to_string());
  auto reports = run_pipeline(program, pipeline, model, how);
  file.end();
  STRIA_FAIL_IF_ERROR(ExitCode::program, reports.status());
  for (const StepReport& step : *reports)
    if (step.matched == 0)
      print_message(fmt::format("step '{}' matched nothing{}{}", step.step,
                                step.notes.empty() ? "" : ": ", join(step.notes, "; ")));
  print_undecided(*reports);
  return Outcome();
}

// Tries the program on random inputs, in full: for small sizes.
Outcome try_interleavings(const stripe::Program& program, int64_t count) {
  STRIA_OR_FAIL(const interp::Exploration found, ExitCode::program,
                interp::explore(program, count));
  if (found.failing)
    return Outcome(ExitCode::program, found.failure.with_context(fmt::format(
                                          "with {} (run {})", found.failing->text(), found.runs)));
  print_message(found.concurrent
                    ? fmt::format("all {} interleavings give the same", found.runs)
                    : "nothing in the program goes on at once with anything else: one run");
  return Outcome();
}

void print_help(const PassInfo& pass, std::FILE* to) {
  std::string page = pass_page_text(pass.name);
  if (page.empty())
    page = fmt::format("{}: {}\noptions:\n{}", pass.name, pass.summary,
                       rows_as_text(pass.options(), 2));
  std::fputs(page.c_str(), to);
}

// The steps as they run: rendered, with the fragments in their places and today's names.
Outcome print_pipeline(const PipelineSource& steps, const SourceText& hw,
                       const std::vector<SourceText>& overlays, const TemplateSettings& settings) {
  HardwareModel model = empty_hardware_model();
  if (!hw.name.empty()) {
    STRIA_OR_FAIL(model, ExitCode::program, load_hardware_model(hw, settings, {}, overlays));
  }
  Pipeline pipeline;
  STRIA_FAIL_IF(parse_pipeline(steps, settings, model, pipeline));
  std::fputs("[", stdout);
  for (size_t i = 0; i < pipeline.steps.size(); ++i)
    std::printf("%s\n  %s", i == 0 ? "" : ",", pipeline.steps[i].json.c_str());
  std::fputs("\n]\n", stdout);
  return Outcome();
}

Outcome opt_file(OptOptions options, ReproducerFile& file) {
  TemplateSettings settings;
  STRIA_FAIL_IF(parse_settings(options.settings, settings));
  if (options.pipeline.empty() && (options.print_after_all || !options.stop_after.empty()))
    return Outcome(ExitCode::usage, invalid_argument("{} needs --pipeline",
                                                     options.print_after_all ? "--print-after-all"
                                                                             : "--stop-after"));
  if (options.print_pipeline && options.pipeline.empty())
    return Outcome(ExitCode::usage, invalid_argument("--print-pipeline needs --pipeline"));
  const PassRegistry registry = passes::pass_registry();
  if (!options.explain.empty()) {
    const PassInfo* pass = nullptr;
    STRIA_FAIL_IF(find_pass(registry, options.explain, pass));
    print_help(*pass, options.file.empty() ? stdout : stderr);
    if (options.file.empty()) return Outcome();
  }
  SourceText hw;
  PipelineSource steps;
  if (!options.hw.empty()) {
    STRIA_OR_FAIL(hw, ExitCode::program, read_source(options.hw[0], kMaxJsonBytes));
  }
  std::vector<SourceText> overlays;
  for (size_t i = 1; i < options.hw.size(); ++i) {
    STRIA_OR_FAIL(SourceText overlay, ExitCode::program, read_source(options.hw[i], kMaxJsonBytes));
    overlays.push_back(std::move(overlay));
  }
  if (!options.pipeline.empty()) {
    STRIA_OR_FAIL(steps, ExitCode::program, read_pipeline(options.pipeline));
  }
  STRIA_FAIL_IF(check_settings(settings, {hw, steps.text}, "--hw or --pipeline"));
  if (options.print_pipeline) return print_pipeline(steps, hw, overlays, settings);
  STRIA_OR_FAIL(SourceText source, ExitCode::program, read_source(options.file, kMaxStripeBytes));
  STRIA_OR_FAIL(stripe::Program program, ExitCode::program, stripe::parse(source));
  std::optional<HardwareModel> model;
  if (!options.hw.empty()) {
    STRIA_OR_FAIL(model, ExitCode::program, load_hardware_model(hw, settings, {}, overlays));
  }
  STRIA_FAIL_IF_ERROR(ExitCode::program, verify_program(program, model, options.file));
  if (!options.pipeline.empty()) {
    const HardwareModel& used = model ? *model : model.emplace(empty_hardware_model());
    Pipeline pipeline;
    STRIA_FAIL_IF(parse_pipeline(steps, settings, used, pipeline));
    // A step without a name of its own is called like its pass.
    const PassInfo* pass = registry.find(options.stop_after);
    if (pass != nullptr &&
        std::none_of(pipeline.steps.begin(), pipeline.steps.end(),
                     [&](const PipelineStep& step) { return step.name == options.stop_after; }))
      options.stop_after = pass->name;
    STRIA_FAIL_IF(run_passes(options, pipeline, used, program, file));
    if (options.print_after_all) return Outcome();
  }
  if (options.interleavings > 0) STRIA_FAIL_IF(try_interleavings(program, options.interleavings));
  std::fputs(stripe::print(program).c_str(), stdout);
  return Outcome();
}

}  // namespace

Outcome opt(const OptOptions& options) {
  if (!options.run_repro.empty()) return replay_file(options.run_repro, false);
  ReproducerFile file(options.repro_dir);
  return file.around([&] { return opt_file(options, file); });
}

std::string passes_help() {
  std::string out;
  for (const PassInfo& pass : passes::all_passes())
    out += fmt::format("  {}: {}\n{}", pass.name, pass.summary, rows_as_text(pass.options(), 4));
  return out;
}

}  // namespace stria::command
