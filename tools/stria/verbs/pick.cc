// SPDX-License-Identifier: Apache-2.0
#include "verbs/pick.h"

#include <cstdio>

#include "inputs/onnx_inputs.h"
#include "inputs/open_device.h"
#include "message.h"
#include "output_files.h"
#include "progress.h"
#include "show/pick_table.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/hal/boundary/info.h"
#include "stria/runtime/inside.h"

namespace stria::command {
namespace {

// The program with the sizes of its inputs.
Outcome lowered(const PickVerb& options, Compilation& out) {
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  Program program;
  ReadInputs in;
  STRIA_FAIL_IF(read_program(options.program, "", given, Wanted::sizes, program, in));
  InputTypes types;
  if (!is_onnx(options.program)) {
    STRIA_FAIL_IF(read_inputs(program, given, in));
    types = types_of_shapes(program, given);
    for (const auto& [name, type] : in.types) types[name] = type;
    STRIA_FAIL_IF(check_input_names(program, "--shape", given.shape_names()));
    STRIA_FAIL_IF(check_input_names(program, "--input", given.source_names()));
  }
  CompileOptions how;
  how.constants.insert(options.constants.begin(), options.constants.end());
  STRIA_FAIL_IF(lower(program, types, how, out));
  print_diagnostics(out.warnings);
  return Outcome();
}

// FILE or FILE=KIND.
Outcome read_models(const PickVerb& options, std::vector<ModelFile>& out) {
  for (const std::string& text : options.models) {
    const size_t sign = text.rfind('=');
    const std::string file = text.substr(0, sign);
    ModelFile& model = out.emplace_back();
    if (sign != std::string::npos) model.kind = text.substr(sign + 1);
    if (file.empty() || (sign != std::string::npos && model.kind.empty()))
      return Outcome(ExitCode::usage,
                     invalid_argument("--model '{}': it is FILE or FILE=KIND", shown_name(text)));
    STRIA_OR_FAIL(model.hw, ExitCode::program, read_source(file, kMaxJsonBytes));
  }
  return Outcome();
}

// A selector of exactly this device, as `--device @FILE` reads it. On a machine that does not have
// it, it means nothing, and the error says so.
std::string lock_text(const Pick& picked, const std::string& program) {
  const DeviceInfo& device = picked.selection.devices[picked.selection.order[0]].device;
  std::string name;
  for (const char c : device.name) name += c == '"' ? std::string("\"\"") : std::string(1, c);
  return fmt::format("# stria pick {}: {}\n{}{}:\"{}\"\n", hal::one_line(program), picked.why,
                     picked.selection.selector.isolated ? kIsolated : "", device.plugin, name);
}

}  // namespace

Outcome pick(const PickVerb& options) {
  STRIA_OR_FAIL(const DeviceSelector selector, ExitCode::usage,
                parse_device_selector(options.device));
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_can_be_kept(selector, true));
  if (!options.lock.empty()) {
    STRIA_FAIL_IF(check_files_differ({{"--lock", options.lock}}, {{"PROG", options.program}}));
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(options.lock));
  }
  PickOptions how;
  STRIA_FAIL_IF(read_models(options, how.models));
  Compilation generic;
  STRIA_FAIL_IF(lowered(options, generic));
  RuntimeOptions all = runtime_options();
  all.isolate_plugins = selector.isolated;
  RuntimeOptions named = all;
  // A model may want the pipeline of any plugin.
  if (options.why_not.empty() && how.models.empty()) named.only_plugins = selector.plugins();
  const Runtime one(named);
  const Runtime runtime = one.plugins().empty() ? Runtime(std::move(all)) : one;
  how.bounds_only = options.bounds;
  how.measure_s = options.measure_ms * 1e-3;
  Pick picked;
  {
    Progress progress("asking devices");
    how.progress = [&](size_t done, size_t count, std::string_view device) {
      progress.tell("asking " + std::string(device),
                    static_cast<double>(done) / static_cast<double>(count));
    };
    // What is wrong with a model is the user's.
    const ExitCode code = how.models.empty() ? ExitCode::device : ExitCode::program;
    STRIA_OR_FAIL(picked, code, Inside::pick(runtime, options.device, generic, how));
  }
  STRIA_FAIL_IF_ERROR(ExitCode::device, check_any_kept(picked.selection));
  for (const std::string& idle : idle_names(picked.selection)) print_message(idle);
  if (!options.lock.empty())
    STRIA_FAIL_IF_ERROR(ExitCode::program,
                        write_file(options.lock, lock_text(picked, options.program)));
  if (options.json)
    std::fputs(pick_json(picked).c_str(), stdout);
  else if (!options.why_not.empty())
    STRIA_FAIL_IF_ERROR(ExitCode::usage, print_why_not(picked, options.why_not));
  else
    std::fputs(pick_text(picked, options.kernels).c_str(), stdout);
  return Outcome();
}

}  // namespace stria::command
