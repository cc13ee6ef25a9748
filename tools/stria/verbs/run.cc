// SPDX-License-Identifier: Apache-2.0
#include "verbs/run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "inputs/device_choice.h"
#include "inputs/onnx_inputs.h"
#include "inputs/open_device.h"
#include "inputs/program_inputs.h"
#include "inputs/template_settings.h"
#include "io/npy.h"
#include "message.h"
#include "output_files.h"
#include "progress.h"
#include "repeat/replay_file.h"
#include "repeat/reproducer_file.h"
#include "report.h"
#include "result_memory.h"
#include "show/pick_table.h"
#include "stria/base/text.h"
#include "stria/runtime/check.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/quarantine_file.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/kernels/kernel_check.h"
#include "timed_runs.h"
#include "top_k.h"
#include "verbs/run_several.h"
#include "verbs/run_stripe.h"

namespace stria::command {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The command line after its spelling has been checked, before anything has been opened.
struct Request {
  std::string program;  // a file
  GivenInputs given;
  std::vector<NamedValue> outputs;
  CheckRequest check;
  Labels labels;
};

Outcome parse_request(const RunOptions& options, Request& request) {
  STRIA_FAIL_IF(options.devices.empty() ? check_selector(options.device, options.settings.empty())
                                        : check_devices(options));
  STRIA_OR_FAIL(request.given, ExitCode::usage, parse_inputs(options.in));
  request.program = options.program;
  STRIA_OR_FAIL(request.outputs, ExitCode::usage,
                parse_named_values("--output", options.outputs, false));
  STRIA_FAIL_IF(check_run_files(options.program, request.given, request.outputs, options.labels));
  STRIA_OR_FAIL(request.check, ExitCode::usage, parse_check(options.check));
  if (!options.labels.empty()) {
    STRIA_OR_FAIL(request.labels, ExitCode::program, read_labels(options.labels));
  }
  return Outcome();
}

// Reads inputs and lowers the program; says in the right order what is wrong with either.
Outcome bind_program(const Program& program, const Request& request, const CompileOptions& how,
                     ReadInputs& in, Compilation& generic, double& lower_seconds) {
  const bool onnx = is_onnx(request.program);  // its inputs are read
  if (!onnx) STRIA_FAIL_IF(read_inputs(program, request.given, in));
  auto check_names = [&]() -> Outcome {
    if (onnx) return Outcome();
    STRIA_FAIL_IF(check_input_names(program, "--input", request.given.source_names()));
    return check_input_names(program, "--shape", request.given.shape_names());
  };
  if (!in.missing.ok()) {
    STRIA_FAIL_IF(check_names());  // perhaps only misspelled
    return Outcome(ExitCode::program, in.missing);
  }
  const Clock::time_point begin = Clock::now();
  STRIA_FAIL_IF(lower(program, in.types, how, generic));
  lower_seconds = seconds_since(begin);
  print_diagnostics(generic.warnings);
  STRIA_FAIL_IF(check_names());
  STRIA_FAIL_IF(check_output_names(program, request.outputs));
  for (const NamedValue& output : request.outputs) {
    const tile::BoundProgram& bound = generic.bound;
    const size_t position = program.find_output(output.name).value();
    const tile::BoundTensor& tensor = bound.tensors[bound.outputs[position]];
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(output.value, tensor.type, tensor.sizes)
                                               .with_context("--output " + output.name));
  }
  return Outcome();
}

// Which results get labels.
Outcome match_results(const Program& program, const tile::BoundProgram& bound, const Labels& labels,
                      std::vector<bool>& labelled) {
  labelled.assign(program.outputs().size(), false);
  if (labels.names.empty()) return Outcome();
  std::vector<LabelledResult> results;
  for (size_t i = 0; i < bound.outputs.size(); ++i)
    results.push_back({program.outputs()[i], bound.tensors[bound.outputs[i]].sizes});
  std::string note;
  STRIA_OR_FAIL(labelled, ExitCode::program, match_labels(labels, results, note));
  if (!note.empty()) print_message(note);
  return Outcome();
}

Outcome check_results(const Compilation& compilation, const std::vector<HostTensor>& inputs,
                      const std::vector<HostTensor>& results, const CheckRequest& request) {
  Progress progress("checking against the interpreter");
  interp::Events events;
  STRIA_OR_FAIL(std::vector<OutputCheck> checks, ExitCode::program,
                check_outputs(compilation, inputs, results, request.sample, &events));
  std::string wrong;
  for (const OutputCheck& check : checks) {
    std::printf("%s\n", describe_check(check).c_str());
    if (!check.report.passed() && wrong.empty()) wrong = check.report.worst_text;
    if (const std::string few = describe_many_undecided(check); !few.empty()) print_message(few);
  }
  if (events.division_by_zero > 0)
    std::fprintf(stderr, "stria: %lld integer divisions by zero gave 0\n",
                 static_cast<long long>(events.division_by_zero));
  if (events.conversion_overflow > 0)
    std::fprintf(stderr, "stria: %lld conversions from float to integer were out of range\n",
                 static_cast<long long>(events.conversion_overflow));
  if (wrong.empty()) return Outcome();
  // The vendor's own functions are the first to look at.
  const std::vector<std::string> calls = micro_kernel_calls(compilation.device);
  const std::string called =
      calls.empty() ? "" : "; its kernels call functions of the plugin: " + join(calls, "; ");
  return Outcome(ExitCode::device,
                 make_error(StatusCode::data_loss, "wrong results: {}{}", wrong, called));
}

// Writes the kernel that is wrong, if there is one, into a folder.
Outcome report_kernels(const std::optional<WrongKernel>& wrong, const DeviceInfo& device,
                       const RunOptions& options) {
  const std::string& folder = options.check_kernels;
  if (!wrong) {
    std::printf("check-kernels: each kernel is right by itself\n");
    return Outcome();
  }
  std::vector<FileText> files = {{folder + "/kernel.stripe", wrong->stripe}};
  const auto add = [&](const char* what, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& one : tensors)
      files.push_back(
          {fmt::format("{}/{}_{}.npy", folder, what, one.name), format_npy(one.tensor)});
  };
  add("in", wrong->inputs);
  add("got", wrong->got);
  add("expected", wrong->expected);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files));
  return Outcome(
      ExitCode::device,
      make_error(StatusCode::data_loss,
                 "kernel '{}' ({} of {}) is the first that is wrong: {}; the kernel, and "
                 "what it read, made and should have made, are in '{}'; it runs again by itself "
                 "with\n  {}",
                 wrong->name, wrong->position + 1, wrong->count, wrong->text, folder,
                 command_of(*wrong, folder, device.selector, options)));
}

// What has come of a run on the device that it ended on.
struct Ran {
  DeviceInfo device;
  Executable executable;
  std::vector<HostTensor> results;  // none if a kernel is wrong
  std::optional<WrongKernel> wrong;
  Profile profile;
  std::vector<Tensor> inputs, outputs;
};

// All that one device does. A failure is the device's.
Status run_on(const Device& device, const Executable& executable, const RunOptions& options,
              const std::vector<HostTensor>& given, Ran& ran) {
  ran.device = device.info();
  ran.executable = executable;
  print_undecided(Inside::compilation(executable).steps);
  std::vector<Tensor>&inputs = ran.inputs, &outputs = ran.outputs;
  for (size_t i = 0; i < executable.inputs().size(); ++i) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(executable.inputs()[i]));
    inputs.push_back(tensor);
    STRIA_RETURN_IF_ERROR(tensor.write(given[i].bytes()));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    outputs.push_back(std::move(tensor));
  }
  if (!options.check_kernels.empty()) {
    // Runs once, kernel by kernel.
    Progress progress("checking each kernel against the interpreter");
    STRIA_ASSIGN(ran.wrong, find_wrong_kernel(executable, inputs, outputs));
    if (ran.wrong) return Status();
  }
  {
    Progress progress("running on " + device.name());
    const Outcome outcome =
        run_executable(executable, inputs, outputs, options.profile ? &ran.profile : nullptr);
    STRIA_RETURN_IF_ERROR(outcome.status());
  }
  for (const Tensor& tensor : outputs) {
    STRIA_ASSIGN(HostTensor result, tensor.read());
    ran.results.push_back(std::move(result));
  }
  return Status();
}

// Compares, writes and shows the results, as asked for.
Outcome give_results(const RunOptions& options, const Request& request, const Program& program,
                     const Compilation& compilation, const std::vector<HostTensor>& inputs,
                     const std::vector<HostTensor>& results, const std::vector<bool>& labelled) {
  // A result that is wrong is not written; what was asked for as a file is not shown as well.
  Outcome checked;
  if (request.check.wanted) checked = check_results(compilation, inputs, results, request.check);
  if (checked.ok()) {
    std::vector<FileText> files;
    for (const NamedValue& output : request.outputs) {
      STRIA_OR_FAIL(FileText file, ExitCode::program,
                    format_tensor(output.value, results[program.find_output(output.name).value()]));
      files.push_back(std::move(file));
    }
    STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = program.outputs()[i];
    if (options.top_k > 0 && classes_of(results[i].sizes()) > 1)
      std::printf("%s\n", describe_top_k(name, results[i], options.top_k,
                                         labelled[i] ? &request.labels : nullptr)
                              .c_str());
    else if (request.outputs.empty())
      std::printf("%s\n", describe_tensor(name, results[i]).c_str());
  }
  std::fflush(stdout);
  return checked;
}

Outcome run_program(const RunOptions& options, ReproducerFile& reproducer) {
  Request request;
  STRIA_FAIL_IF(parse_request(options, request));
  const Clock::time_point parse_begin = Clock::now();
  Program program;
  ReadInputs in;
  const auto first = [&](const Compilation& before, Device& device) {
    return open_device(options.device, device, options.time_limit_s, options.threads, &before);
  };
  STRIA_FAIL_IF(read_program(options.program, options.function, request.given, Wanted::values,
                             program, in, first));
  const double parse_seconds = seconds_since(parse_begin);
  TemplateSettings parameters;
  STRIA_FAIL_IF(parse_settings(options.settings, parameters));
  RunnerOptions runs;
  runs.compile = {.fast_math = options.fast_math,
                  .no_peepholes = options.no_peepholes,
                  .constants = {options.constants.begin(), options.constants.end()},
                  .watch_kernels = true,
                  .tune = options.tune,
                  .parameters = parameters,
                  .recorder = &reproducer};
  runs.on_hand_over = [&](const HandOver&) { reproducer.forget(); };
  const CompileOptions& how = runs.compile;
  Device device;
  Pick picked;
  Pick* const asked = options.explain_device ? &picked : nullptr;
  const auto open = [&](const Compilation* generic) {
    return open_device(options.device, device, options.time_limit_s, options.threads, generic,
                       asked);
  };
  // Only the device knows its parameters; inputs can be large, and a device slow to open.
  if (!how.parameters.empty()) {
    STRIA_FAIL_IF(open(nullptr));
    STRIA_FAIL_IF(check_parameters(device, how));
  }
  Compilation generic;
  double lower_seconds = 0;
  STRIA_FAIL_IF(bind_program(program, request, how, in, generic, lower_seconds));

  std::vector<bool> labelled;
  STRIA_FAIL_IF(match_results(program, generic.bound, request.labels, labelled));

  if (!options.devices.empty()) {
    Compilation checked = generic;
    SeveralResults several;
    STRIA_FAIL_IF(run_on_several(options, program, std::move(generic), how, in.tensors, several));
    STRIA_FAIL_IF(check_process());
    checked.flushed = several.flushed;
    return give_results(options, request, program, checked, in.tensors, several.outputs, labelled);
  }
  // What is set or tuned is the chosen device's: no other one could go on.
  if (how.tune > 0 && !device.valid()) STRIA_FAIL_IF(open(&generic));
  const tile::BoundProgram bound = generic.bound;
  ProgramRunner runner;
  if (device.valid())
    runner = Inside::runner(device, std::move(generic), runs);
  else
    STRIA_FAIL_IF(open_runner(options.device, std::move(generic), runs, runner,
                              options.time_limit_s, options.threads, asked));
  if (asked != nullptr) std::fputs(pick_text(picked, false).c_str(), stderr);
  std::shared_ptr<Ran> ran;
  Outcome too_large;
  RunnerWork work;
  work.opened = [&](const Device& on) {
    take_device(on);
    too_large = check_result_memory(program, bound, on);
    return too_large.status();
  };
  work.run = [&](const Device& on, const Executable& executable, RunnerNotes& notes) {
    ran = std::make_shared<Ran>();
    notes.made = ran;
    Status done = run_on(on, executable, options, in.tensors, *ran);
    ran->profile.compile_seconds = parse_seconds + lower_seconds + notes.compile_seconds;
    if (!done.ok()) ran.reset();
    return done;
  };
  const QuarantineFile quarantine;
  const double began = quarantine.now();
  const Status status = Inside::run(runner, work);
  STRIA_FAIL_IF(too_large);
  STRIA_FAIL_IF_ERROR(ExitCode::device, status);
  STRIA_FAIL_IF(check_process());
  const auto keep_verdict = [&](const Outcome& compared) {
    if (compared.ok())
      quarantine.ended_well(ran->device, true);
    else if (compared.status().code() == StatusCode::data_loss)
      quarantine.failed(ran->device, Quarantine::Cause::wrong, bound.name,
                        compared.status().message(), began);
  };
  if (!options.check_kernels.empty()) {
    const Outcome compared = report_kernels(ran->wrong, ran->device, options);
    keep_verdict(compared);
    STRIA_FAIL_IF(compared);
  }
  const Executable& executable = ran->executable;
  const Profile& profile = ran->profile;
  const Outcome checked = give_results(options, request, program, Inside::compilation(executable),
                                       in.tensors, ran->results, labelled);
  if (request.check.wanted) keep_verdict(checked);
  if (options.profile)
    std::printf(
        "%s%s\n",
        describe_profile(profile, kernel_operations(Inside::compilation(executable).generic))
            .c_str(),
        describe_micro_kernels(Inside::compilation(executable).device, profile.kernels).c_str());
  // What the plugin does when its objects go takes nothing away.
  std::fflush(stdout);
  return checked;
}

}  // namespace

Outcome run(const RunOptions& options) {
  if (!options.run_repro.empty()) return replay_file(options.run_repro, true);
  ReproducerFile reproducer(options.repro_dir);
  return reproducer.around([&] {
    return is_stripe(options.program) ? run_stripe_file(options, reproducer)
                                      : run_program(options, reproducer);
  });
}

}  // namespace stria::command
