// SPDX-License-Identifier: Apache-2.0
// This file, verb_options.cc and wrong_options.cc include CLI11, which is costly to compile.
#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "help_texts.h"
#include "inputs/device_choice.h"
#include "inputs/open_device.h"
#include "message.h"
#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "verb_options.h"
#include "wrong_options.h"

namespace stria::command {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 success; 1 program, file, shape, value or unwritable output; 2 wrong use of the "
    "command; 3 device or plugin; 4 a bug of stria.";

}  // namespace

CommandLine parse_command_line(int count, const char* const* arguments) {
  CLI::App app("Compiles tensor programs and runs them on whatever hardware is there.", "stria");
  app.set_version_flag("--version", "stria " STRIA_VERSION);
  app.footer(std::string("\n`stria VERB --help` says more.\n") + kExitCodes);
  app.require_subcommand(0, 1);
  DevicesOptions devices_options;
  DoctorOptions doctor_options;
  RunOptions run_options;
  CompileOptionsText compile_options;
  OptOptions opt_options;
  HwOptions hw_options;
  FmtOptions fmt_options;
  GradOptions grad_options;
  ReduceOptions reduce_options;
  SimOptions sim_options;
  CLI::App* devices_app = app.add_subcommand("devices", "list the devices of all plugins");
  CLI::App* doctor_app = app.add_subcommand("doctor", "say what is wrong with each plugin");
  CLI::App* run_app = app.add_subcommand("run", "run a program on a device");
  CLI::App* compile_app = app.add_subcommand("compile", "write a program's device Stripe");
  CLI::App* opt_app = app.add_subcommand("opt", "verify and transform a Stripe file");
  CLI::App* hw_app = app.add_subcommand("hw", "print a hardware model and where it is from");
  define(devices_app, devices_options);
  define(doctor_app, doctor_options);
  define(run_app, run_options);
  define(compile_app, compile_options);
  CLI::App* fmt_app = app.add_subcommand("fmt", "write a Tile program in canonical form");
  define(opt_app, opt_options);
  define(hw_app, hw_options);
  define(fmt_app, fmt_options);
  CLI::App* grad_app = app.add_subcommand("grad", "write the derivative of a Tile program");
  define(grad_app, grad_options);
  CLI::App* reduce_app =
      app.add_subcommand("reduce", "make a failing Stripe program small and keep the failure");
  define(reduce_app, reduce_options);
  CLI::App* sim_app =
      app.add_subcommand("sim", "run a program on a simulated accelerator: cycles and energy");
  define(sim_app, sim_options);
  ShowOptions show_options;
  CLI::App* show_app =
      app.add_subcommand("show", "say what is in a program: nodes, sizes, operations, weights");
  define(show_app, show_options);
  PickVerb pick_options;
  CLI::App* pick_app = app.add_subcommand("pick", "say which device a program had better run on");
  define(pick_app, pick_options);
  OpsOptions ops_options;
  NewPluginOptions new_plugin_options;
  ConformOptions conform_options;
  CLI::App* ops_app = app.add_subcommand("ops", "list the ONNX operators");
  define(ops_app, ops_options);
  CLI::App* new_plugin_app =
      app.add_subcommand("new-plugin", "write the project of a device plugin of your own");
  define(new_plugin_app, new_plugin_options);
  CLI::App* conform_app =
      app.add_subcommand("conform", "try whether a plugin does all that is asked of it");
  define(conform_app, conform_options);
  CalibrateCommand calibrate_options;
  CLI::App* calibrate_app = app.add_subcommand(
      "calibrate", "measure a device, and write what its hardware model should say");
  define(calibrate_app, calibrate_options);

  CommandLine out;
  for (CLI::App* verb : app.get_subcommands({})) {
    verb->add_flag("--verbose", out.audience.verbose, "show every line that plugins log");
    verb->add_flag("--author", out.audience.author,
                   "you write the plugin: say the place in its source, and what to edit (so it is "
                   "for plugins in $STRIA_PLUGIN_PATH and ~/.local/lib/stria/plugins)");
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForVersion& version) {
    out.text = std::string(version.what()) + "\n";
    out.to_stdout = true;
    return out;
  } catch (const CLI::CallForHelp&) {
    out.text = app.help();
    out.to_stdout = true;
    return out;
  } catch (const CLI::ParseError& error) {
    if (app.get_subcommands().empty() && count > 1 && arguments[1][0] != '-') {
      std::vector<std::string> verbs;
      for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
      out.text = message_line(fmt::format("there is no verb '{}'{} (the verbs: {})",
                                          shown_name(arguments[1]),
                                          did_you_mean(arguments[1], verbs), join(verbs, ", ")));
      out.code = ExitCode::usage;
      return out;
    }
    const CLI::App* used = app.get_subcommands().empty() ? &app : app.get_subcommands()[0];
    std::string what = unknown_option(*used, count, arguments);
    if (what.empty() && used != &app) what = unexpected_word(*used, count, arguments);
    if (what.empty()) what = error.what();
    out.text = message_line(what + "\nTry: stria " + (used == &app ? "" : used->get_name() + " ") +
                            "--help");
    out.code = ExitCode::usage;
    return out;
  }
  for (const CLI::App* used : app.get_subcommands()) {
    const std::string option = option_without_file(*used);
    if (option.empty()) continue;
    out.text = message_line(fmt::format("{}: the name of a file is empty\nTry: stria {} --help",
                                        option, used->get_name()));
    out.code = ExitCode::usage;
    return out;
  }
  const auto left_out = [](const CLI::App* used) {
    return used->parsed() && used->get_option("--device")->count() == 0;
  };
  std::vector<std::pair<std::string*, bool>> choices = {
      {&run_options.device,
       left_out(run_app) && run_options.run_repro.empty() && run_options.devices.empty()},
      {&compile_options.device, left_out(compile_app) && compile_options.to != "tile"},
      {&pick_options.device, left_out(pick_app)},
      {&hw_options.device, false},
      {&calibrate_options.device, false},
      {&devices_options.select, false}};
  for (std::string& device : show_options.devices) choices.emplace_back(&device, false);
  for (const auto& [device, is_left_out] : choices)
    if (const Outcome taken = take_selector(*device, is_left_out); !taken.ok()) {
      out.text = message_line(taken.status().message());
      out.code = taken.code();
      return out;
    }
  // As elsewhere, a file called - is what comes in.
  for (std::string* file : {&run_options.program, &compile_options.program, &sim_options.program,
                            &show_options.program, &pick_options.program, &opt_options.file,
                            &grad_options.file, &reduce_options.file, &hw_options.model})
    if (*file == "-") *file = "/dev/stdin";
  std::replace(fmt_options.files.begin(), fmt_options.files.end(), std::string("-"),
               std::string("/dev/stdin"));
  if (devices_app->parsed()) out.verb = devices_options;
  if (doctor_app->parsed()) out.verb = doctor_options;
  if (run_app->parsed()) out.verb = run_options;
  if (compile_app->parsed()) out.verb = compile_options;
  if (opt_app->parsed()) out.verb = opt_options;
  if (hw_app->parsed()) out.verb = hw_options;
  if (fmt_app->parsed()) out.verb = fmt_options;
  if (grad_app->parsed()) out.verb = grad_options;
  if (reduce_app->parsed()) out.verb = reduce_options;
  if (sim_app->parsed()) out.verb = sim_options;
  if (show_app->parsed()) out.verb = show_options;
  if (pick_app->parsed()) out.verb = pick_options;
  if (ops_app->parsed()) out.verb = ops_options;
  if (new_plugin_app->parsed()) out.verb = new_plugin_options;
  if (conform_app->parsed()) out.verb = conform_options;
  if (calibrate_app->parsed()) out.verb = calibrate_options;
  if (!out.verb) {
    out.text = app.help();
    out.code = ExitCode::usage;
  }
  return out;
}

}  // namespace stria::command
