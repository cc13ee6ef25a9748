// SPDX-License-Identifier: Apache-2.0
#include "verbs/reduce.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "inputs/pipeline_file.h"
#include "inputs/template_settings.h"
#include "message.h"
#include "output_files.h"
#include "repeat/failure_test.h"
#include "stria/base/file.h"
#include "stria/pass/reproducer.h"
#include "stria/pass/shrink.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::command {
namespace {

bool is_reproducer(const std::string& text) { return text.starts_with("// stria reproducer"); }

// What a program is tried with, and in what form it is written.
struct Task {
  stripe::Program program;
  std::optional<Reproducer> reproducer;  // of the file, if it is one
  HardwareModel model = empty_hardware_model();
  bool has_model = false;

  std::string text_of(const stripe::Program& small) const {
    if (!reproducer) return stripe::print(small);
    Reproducer out = *reproducer;
    out.program = stripe::print(small);
    return out.to_string();
  }
  bool is_legal(const stripe::Program& small) const {
    const std::map<std::string, int64_t> units = model.units();
    stripe::VerifyOptions options;
    options.intrinsics = &intrinsic_signatures();
    if (!units.empty()) options.units = &units;
    return stripe::verify(small, options).ok();
  }
};

// Program, model and pipeline, from the file or from files of their own.
Outcome read_task(const ReduceOptions& options, Task& task, std::optional<Pipeline>& pipeline) {
  TemplateSettings settings;
  STRIA_FAIL_IF(parse_settings(options.settings, settings));
  STRIA_OR_FAIL(SourceText source, ExitCode::program, read_source(options.file, kMaxStripeBytes));
  if (is_reproducer(source.text)) {
    STRIA_OR_FAIL(task.reproducer, ExitCode::program, parse_reproducer(source));
    if (task.reproducer->needs_device() && options.test.empty())
      return Outcome(ExitCode::usage,
                     invalid_argument("'{}' needs the device '{}': give --test \"stria run "
                                      "--run-repro\"",
                                      options.file, task.reproducer->device));
  }
  STRIA_OR_FAIL(task.program, ExitCode::program, stripe::parse(source));
  SourceText hw;
  PipelineSource steps;
  if (!options.hw.empty()) {
    STRIA_OR_FAIL(hw, ExitCode::program, read_source(options.hw, kMaxJsonBytes));
  } else if (task.reproducer) {
    hw = {options.file + ": /hw", task.reproducer->hw};
  }
  if (!options.pipeline.empty()) {
    STRIA_OR_FAIL(steps, ExitCode::program, read_pipeline(options.pipeline));
  } else if (task.reproducer) {
    steps = SourceText{options.file + ": /pipeline", task.reproducer->pipeline};
  }
  STRIA_FAIL_IF(check_settings(settings,
                               {options.hw.empty() ? SourceText() : hw,
                                options.pipeline.empty() ? SourceText() : steps.text},
                               "--hw or --pipeline"));
  if (!hw.name.empty()) {
    STRIA_OR_FAIL(task.model, ExitCode::program, load_hardware_model(hw, settings));
  }
  if (!options.test.empty()) return Outcome();
  if (steps.text.name.empty())
    return Outcome(ExitCode::usage,
                   invalid_argument("what fails? Give --pipeline or --test, or a reproducer"));
  return parse_pipeline(steps, settings, task.model, pipeline.emplace());
}

int64_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

Outcome reduce(const ReduceOptions& options) {
  if (!options.test.empty() && !options.pipeline.empty())
    return Outcome(ExitCode::usage, invalid_argument("--test and --pipeline exclude each other"));
  if (options.test.empty() && !options.says.empty())
    return Outcome(ExitCode::usage, invalid_argument("--says needs --test"));
  if (!options.test.empty() && options.exact)
    return Outcome(ExitCode::usage, invalid_argument("--exact is of values, not of a --test"));
  Task task;
  std::optional<Pipeline> pipeline;
  STRIA_FAIL_IF(read_task(options, task, pipeline));
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file) {
    std::vector<NamedFile> read = {{"FILE", options.file}};
    if (!options.hw.empty()) read.push_back({"--hw", options.hw});
    if (!options.pipeline.empty()) read.push_back({"--pipeline", options.pipeline});
    for (size_t i = 0; pipeline && i < pipeline->fragments.size(); ++i)
      read.push_back({"fragment of --pipeline", pipeline->fragments[i].name});
    STRIA_FAIL_IF(check_files_differ({{"--output", options.output}}, read));
    // Before the time is spent.
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(options.output));
  }
  if (!options.invalid && !task.is_legal(task.program))
    return Outcome(ExitCode::program,
                   invalid_argument("'{}' is not legal itself; --invalid takes it", options.file));
  // Where the programs lie that the command is given.
  if (!options.test.empty())
    STRIA_FAIL_IF_ERROR(ExitCode::program,
                        check_writable(std::filesystem::temp_directory_path() / "program.stripe"));
  const FailureTest failure =
      pipeline ? fails_in_pipeline({*pipeline, task.model, options.exact,
                                    static_cast<uint64_t>(options.seed), !options.invalid})
               : fails_in_command(options.test, options.says,
                                  [&](const stripe::Program& p) { return task.text_of(p); });
  const std::string wanted = failure(task.program);
  if (wanted.empty())
    return Outcome(ExitCode::program, make_error(StatusCode::failed_precondition,
                                                 "'{}' does not fail: there is "
                                                 "nothing to keep",
                                                 options.file));
  print_message(fmt::format("{}: {}", options.file, wanted));

  const auto begin = std::chrono::steady_clock::now();
  ShrinkOptions how;
  how.stop = [&] {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() > options.time_limit_s;
  };
  ShrinkReport report;
  const stripe::Program small = shrink(
      task.program,
      [&](const stripe::Program& p) {
        return (options.invalid || task.is_legal(p)) && failure(p) == wanted;
      },
      how, &report);
  std::fprintf(stderr, "stria: %lld lines became %lld; %lld programs tried, %lld still failed%s\n",
               static_cast<long long>(lines_of(stripe::print(task.program))),
               static_cast<long long>(lines_of(stripe::print(small))),
               static_cast<long long>(report.tried), static_cast<long long>(report.kept),
               report.complete ? "" : "; the time was up");
  const std::string text = task.text_of(small);
  if (!to_file) {
    std::fputs(text.c_str(), stdout);
    return Outcome();
  }
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_file(options.output, text));
  return Outcome();
}

}  // namespace stria::command
