// SPDX-License-Identifier: Apache-2.0
#include "verbs/run_stripe.h"

#include <algorithm>
#include <cstdio>

#include "inputs/device_choice.h"
#include "inputs/named_values.h"
#include "inputs/open_device.h"
#include "inputs/template_settings.h"
#include "output_files.h"
#include "progress.h"
#include "report.h"
#include "shell_word.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/runtime/kernels/stripe_run.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

constexpr const char* kEnding = ".stripe";

Outcome check_options(const RunOptions& options) {
  const std::pair<const char*, bool> others[] = {
      {"--devices", !options.devices.empty()},
      {"--check-kernels", !options.check_kernels.empty()},
      {"--const", !options.constants.empty()},
      {"--explain-device", options.explain_device},
      {"--function", !options.function.empty()},
      {"--labels", !options.labels.empty()},
      {"--picture", !options.in.pictures.empty()},
      {"--profile", options.profile},
      {"--set", !options.settings.empty()},
      {"--shape", !options.in.shapes.empty()},
      {"--top-k", options.top_k > 0},
      {"--tune", options.tune > 0}};
  for (const auto& [name, given] : others)
    if (given)
      return Outcome(ExitCode::usage,
                     invalid_argument("{}: '{}' is Stripe, which runs as it stands: there is "
                                      "nothing to choose for it but --device, --input, "
                                      "--input-dir, --output, --check, --fast-math, "
                                      "--no-peepholes, --threads and --time-limit",
                                      name, options.program));
  return check_selector(options.device, true);
}

std::vector<std::string> names_of(const std::vector<interp::ProgramTensor>& tensors) {
  std::vector<std::string> out;
  for (const interp::ProgramTensor& one : tensors) out.push_back(one.name);
  return out;
}

// ExitCode::usage for a name that is none of the program's.
Outcome check_name(const std::string& file, const char* option, const char* what,
                   const std::string& name, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return Outcome();
  return Outcome(ExitCode::usage, not_found("{}: '{}' has no {} '{}'{} (its {}s: {})", option, file,
                                            what, shown_name(name), did_you_mean(name, names), what,
                                            names.empty() ? "none" : join(names, ", ")));
}

Outcome read_tensors(const RunOptions& options, GivenInputs given, const StripeProgram& program,
                     std::vector<HostTensor>& out) {
  STRIA_FAIL_IF(check_input_folder(given));
  const std::vector<std::string> names = names_of(program.inputs);
  for (const NamedSource& one : given.sources)
    STRIA_FAIL_IF(check_name(options.program, "--input", "input", one.name, names));
  add_sources_of_folder(names, given);
  for (const interp::ProgramTensor& input : program.inputs) {
    const DataType type = input.shape.type;
    const std::vector<int64_t> sizes = input.shape.sizes();
    const auto source =
        std::find_if(given.sources.begin(), given.sources.end(),
                     [&](const NamedSource& one) { return one.name == input.name; });
    if (source == given.sources.end())
      return Outcome(
          ExitCode::program,
          invalid_argument("'{}' needs a value for its input {}: --input {}=FILE", options.program,
                           input.name + ": " + to_string(type, sizes), input.name));
    // The bits of bf16 have no type of their own in a file.
    TensorSource from = source->source;
    if (from.kind == TensorSource::Kind::npy && !from.type && type == DataType::bf16)
      from.type = type;
    STRIA_OR_FAIL(HostTensor tensor, ExitCode::program,
                  read_tensor(from, sizes, type, "input '" + input.name + "'"));
    if (tensor.type() != type || tensor.sizes() != sizes)
      return Outcome(ExitCode::program,
                     invalid_argument("input '{}' is {}, and '{}' takes {}", input.name,
                                      to_string(tensor.type(), tensor.sizes()), options.program,
                                      to_string(type, sizes)));
    out.push_back(std::move(tensor));
  }
  return Outcome();
}

Outcome report_run(const std::vector<NamedValue>& wanted, const StripeProgram& program,
                   const StripeRun& ran) {
  std::string wrong;
  for (const OutputCheck& check : ran.checks) {
    std::printf("%s\n", describe_check(check).c_str());
    if (!check.report.passed() && wrong.empty()) wrong = check.report.worst_text;
  }
  if (!wrong.empty()) {
    std::fflush(stdout);
    return Outcome(ExitCode::device, make_error(StatusCode::data_loss, "wrong results: {}", wrong));
  }
  const std::vector<std::string> names = names_of(program.outputs);
  std::vector<FileText> files;
  for (const NamedValue& output : wanted) {
    const auto at = std::find(names.begin(), names.end(), output.name);
    STRIA_OR_FAIL(
        FileText file, ExitCode::program,
        format_tensor(output.value, ran.results[static_cast<size_t>(at - names.begin())]));
    files.push_back(std::move(file));
  }
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files));
  for (size_t i = 0; i < names.size() && wanted.empty(); ++i)
    std::printf("%s\n", describe_tensor(names[i], ran.results[i]).c_str());
  std::fflush(stdout);
  return Outcome();
}

}  // namespace

bool is_stripe(const std::string& path) { return path.ends_with(kEnding); }

Outcome run_stripe_file(const RunOptions& options, FailureRecorder& recorder) {
  STRIA_FAIL_IF(check_options(options));
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  STRIA_OR_FAIL(const std::vector<NamedValue> outputs, ExitCode::usage,
                parse_named_values("--output", options.outputs, false));
  STRIA_FAIL_IF(check_run_files(options.program, given, outputs));
  STRIA_OR_FAIL(const CheckRequest check, ExitCode::usage, parse_check(options.check));
  STRIA_OR_FAIL(const SourceText file, ExitCode::program,
                read_source(options.program, kMaxStripeBytes));
  STRIA_OR_FAIL(const StripeProgram program, ExitCode::program, read_stripe_program(file));
  const std::vector<std::string> names = names_of(program.outputs);
  for (const NamedValue& output : outputs) {
    STRIA_FAIL_IF(check_name(options.program, "--output", "output", output.name, names));
    const auto at = std::find(names.begin(), names.end(), output.name);
    const TensorShape& shape = program.outputs[static_cast<size_t>(at - names.begin())].shape;
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(output.value, shape.type, shape.sizes())
                                               .with_context("--output " + output.name));
  }
  std::vector<HostTensor> inputs;
  STRIA_FAIL_IF(read_tensors(options, std::move(given), program, inputs));
  Device device;
  STRIA_FAIL_IF(open_device(options.device, device, options.time_limit_s, options.threads));
  CompileOptions how;
  how.fast_math = options.fast_math;
  how.no_peepholes = options.no_peepholes;
  how.recorder = &recorder;
  StripeRun ran;
  {
    Progress progress("running on " + device.name());
    std::optional<StripeCheck> compared;
    if (check.wanted) compared = StripeCheck{check.sample};
    auto result = run_stripe(device, program, inputs, how, compared);
    // What the device's model does not have is a fault of the file.
    if (result.status().code() == StatusCode::invalid_argument)
      return Outcome(ExitCode::program, result.status());
    STRIA_OR_FAIL(ran, ExitCode::device, std::move(result));
  }
  STRIA_FAIL_IF(check_process());
  return report_run(outputs, program, ran);
}

std::string command_of(const WrongKernel& wrong, const std::string& folder,
                       const std::string& selector, const RunOptions& options) {
  std::string out = "stria run " + shell_word(folder + "/kernel" + kEnding) + " --device " +
                    shell_word(selector) + " --check";
  for (const std::string& file : hw_overlay_files()) out += " --hw " + shell_word(file);
  if (options.fast_math) out += " --fast-math";
  if (options.no_peepholes) out += " --no-peepholes";
  for (const NamedTensor& input : wrong.inputs)
    out += " --input " + shell_word(fmt::format("{}={}/in_{}.npy", input.name, folder, input.name));
  return out;
}

}  // namespace stria::command
