// SPDX-License-Identifier: Apache-2.0
// This file, command_line.cc and wrong_options.cc include CLI11, which is costly to compile.
#include "verb_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>

#include "help_texts.h"
#include "inputs/open_device.h"
#include "stria/base/number_text.h"
#include "stria/base/text.h"
#include "stria/runtime/runtime.h"

namespace stria::command {
namespace {

// An option that may be given several times and takes one value each time.
void add_repeated(CLI::App* app, const char* name, std::vector<std::string>& values,
                  const char* help, const char* kind) {
  app->add_option(name, values, help)->type_name(kind)->allow_extra_args(false)->take_all();
}

// A file of numbers for the model of the device.
void add_hw(CLI::App* app) {
  add_repeated(app, "--hw", hw_overlay_files(), "refines its hardware model; see calibrate",
               "FILE");
}

CLI::Option* add_device(CLI::App* app, std::string& device) {
  add_hw(app);
  return app
      ->add_option("--device", device,
                   "which device; see Selectors below (default: $STRIA_DEVICE, or auto)")
      ->type_name("SEL");
}

void add_explain_device(CLI::App* app, bool& wanted) {
  app->add_flag("--explain-device", wanted,
                "print on stderr what the choice of the device stands on, as `stria pick` does");
}

void add_inputs(CLI::App* app, InputTexts& in, const char* input_help, const char* shape_help) {
  add_repeated(app, "--input", in.inputs, input_help, "NAME=TENSOR");
  add_repeated(app, "--shape", in.shapes, shape_help, "NAME=2,3[:TYPE]");
  add_repeated(app, "--picture", in.pictures,
               "what becomes of pictures on their way into a model; see Pictures below",
               "KEY=VALUE");
  app->add_option("--input-dir", in.folder,
                  "a folder with NAME.npy for inputs that no --input gives")
      ->type_name("DIR");
}

void add_repro_dir(CLI::App* app, std::string& folder) {
  app->add_option(
         "--repro-dir", folder,
         "folder for stria-repro-HASH.stripe, which is written when a pass or a build fails "
         "(default: the working directory)")
      ->type_name("DIR");
}

// An option that stands alone: every other one is excluded. Said here and not by CLI11's
// `excludes`, which would repeat it in the help of every option.
void add_run_repro(CLI::App* app, std::string& file) {
  const std::vector<CLI::Option*> others = app->get_options();
  CLI::Option* repro = app->add_option_function<std::string>(
      "--run-repro",
      [&file, others](const std::string& path) {
        file = path;
        for (CLI::Option* other : others) other->required(false);
      },
      "try a stria-repro-HASH.stripe again, and nothing else");
  repro->type_name("FILE");
  app->callback([repro, others] {
    for (const CLI::Option* other : others)
      if (*repro && *other) throw CLI::ExcludesError(repro->get_name(), other->get_name());
  });
}

// The number that `parse` makes of an option's text, or usage with the option's name.
template <typename Number, typename Parse>
CLI::Option* add_number(CLI::App* app, const char* name, Number& value, const std::string& help,
                        const Parse& parse) {
  return app->add_option_function<std::string>(
      name,
      [&value, name, parse](const std::string& text) {
        const auto number = parse(text);
        if (!number.ok()) throw CLI::ValidationError(name, number.status().message());
        value = static_cast<Number>(*number);
      },
      help);
}

// Both limits are legal, and stand in the help.
template <typename Number>
CLI::Option* add_integer(CLI::App* app, const char* name, Number& value, int64_t least,
                         int64_t most, const std::string& help) {
  return add_number(app, name, value, fmt::format("{}; {} to {}", help, least, most),
                    [=](const std::string& text) { return parse_integer(text, least, most); })
      ->type_name("N");
}

// Up to a day, so that no clock overflows.
void add_time_limit(CLI::App* app, double& seconds, double least, const std::string& help) {
  constexpr double kDay = 86400;
  add_number(app, "--time-limit", seconds, fmt::format("{}; {:g} to {:g}", help, least, kDay),
             [=](const std::string& text) { return parse_number(text, least, kDay); })
      ->type_name("SECONDS")
      ->default_str(fmt::format("{:g}", seconds));
}

void add_no_peepholes(CLI::App* app, bool& without) {
  app->add_flag("--no-peepholes", without,
                "generate code without peepholes: the same results, more slowly, to find out "
                "whether one is at fault");
}

void add_tune(CLI::App* app, int& candidates) {
  add_integer(app, "--tune", candidates, 0, 1000,
              "time so many candidates for each kernel's tile on the device and take the "
              "fastest; what was timed is kept. For devices with a parameter whose default is "
              "`tune`: `stria hw --device SEL` lists them");
}

void add_step_limit(CLI::App* app, double& seconds) {
  add_time_limit(app, seconds, 0.001, "how long each step of a plugin may take");
}

void add_constants(CLI::App* app, std::vector<std::string>& names) {
  add_repeated(app, "--const", names,
               "an input that stays the same for many runs: what depends on such alone is computed "
               "once",
               "NAME");
}

}  // namespace

void define(CLI::App* app, DevicesOptions& options) {
  app->add_flag("--json", options.json, "print JSON");
  app->add_flag("--isolated", options.isolated, "list each plugin from a process of its own");
  app->add_option("--select", options.select,
                  "say of each device whether it is kept, and which term drops it; exit code 3 if "
                  "none is kept")
      ->type_name("SEL")
      ->check([](const std::string& text) { return text.empty() ? "the selector is empty" : ""; });
  app->add_option("--clear-quarantine", options.clear_quarantine,
                  "let `auto` take these devices again at once, though they have failed; * is all")
      ->type_name("DEVICE");
  CLI::Option* topology = app->add_flag(
      "--topology", options.topology,
      "open the devices (of --select, else all that are no simulation), and say how fast bytes "
      "move between them and the host, and which way; what was measured is kept");
  app->add_flag("--again", options.again, "measure again what was kept")->needs(topology);
  add_step_limit(app, options.step_limit_s);
  app->footer(std::string(kSelectors) +
              "\n\nExamples:\n  stria devices\n  stria devices --json\n"
              "  stria devices --topology --select 'opencl, llvm_cpu'\n"
              "  stria devices --select 'opencl, vulkan, mem>=4G, !kind:software'\n"
              "  stria devices --clear-quarantine opencl:0");
}

void define(CLI::App* app, DoctorOptions& options) {
  app->add_option("PLUGIN", options.plugins, "ids of the plugins to look at (default: all)");
  app->add_flag("--json", options.json, "print JSON");
  app->add_flag("--isolated", options.isolated,
                "look at them as devices are that isolated: names, through its messages");
  add_step_limit(app, options.step_limit_s);
  app->footer(
      "\nFor each plugin: where it was found, the steps it passed, the one it failed and why, "
      "which\n"
      "libraries it needs are installed, its devices, and the command that would mend it. Each is\n"
      "loaded in a process of its own, and a tiny program is run on each of its devices and "
      "compared\n"
      "with the interpreter, and compiled with each value of the parameters of its pipeline that\n"
      "list their values. Exit code 0 only if all is well, else 3.\n"
      "\nExamples:\n  stria doctor\n  stria doctor llvm_cpu --json");
}

void define(CLI::App* app, ConformOptions& options) {
  app->add_option("DIR", options.directory, "the plugin's folder, with its plugin.json")
      ->required();
  add_integer(app, "--level", options.level, 1, 4,
              "how far to go: 1 it loads, 2 it is right, 3 it is robust, 4 it is honest about its "
              "speed (default: 2)");
  add_repeated(app, "--only", options.only, "a group, a case, or a pattern with * and ?", "CASE");
  app->add_option("--device", options.device,
                  "the id of the device (default: the first that is available)")
      ->type_name("ID");
  add_integer(app, "--jobs", options.jobs, 1, 1024,
              "processes at once (default: one for each core)");
  add_number(app, "--patience", options.patience,
             "times each case's limit, for slow machines and drivers; 1 to 1000",
             [](const std::string& text) { return parse_number(text, 1, 1000); })
      ->type_name("X");
  add_integer(app, "--hangs", options.hangs, 1, 1'000'000,
              "cases of a group that may hang before the rest of it is skipped (default: 8)");
  app->add_flag("--isolated", options.isolated,
                "run the plugin in a process of its own, as 'isolated:NAME' does");
  app->add_flag("--list", options.list, "print the cases, and run none");
  app->add_flag("--all-cases", options.all_cases, "print those that pass, too");
  app->add_flag("--json", options.json, "print JSON");
  app->add_flag_callback(
      "--no-record", [&options] { options.record = false; },
      "keep no verdict: `auto` passes over plugins whose last one is that they fail level 1 or 2");
  app->add_option("--junit", options.junit, "write a report for CI systems")->type_name("FILE");
  app->add_option("--html", options.html, "write a page for people")->type_name("FILE");
  app->add_option("--badge", options.badge, "write the level as JSON for badge services")
      ->type_name("FILE");
  app->footer(
      "\nTries whether a plugin does what stria/plugin.h asks of it. Each case runs in a process "
      "that is\nnot this one, and has a limit: PASS, FAIL, SKIP, UNSUPPORTED, CRASH, HANG, LEAK. "
      "What the plugin's\nexpected_failures.txt lists is XFAIL, or XPASS if it passes. Each "
      "failure comes with the rule that\nit breaks and the command that repeats it. Exit code 0 "
      "if the level is reached, else 3.\n"
      "\nExamples:\n  stria conform ~/.local/lib/stria/plugins/acme\n"
      "  stria conform build/acme --level 3 --html report.html --junit report.xml\n"
      "  stria conform build/acme --only M --only Q.order\n"
      "  stria conform build/acme --level 1 --list\n"
      "  stria conform build/acme --json > verdict.json");
}

void define(CLI::App* app, RunOptions& options) {
  app->add_option("PROG", options.program,
                  "program, a .tile, .onnx or .stripe file; - is Tile from stdin. Stripe "
                  "runs as it stands, without passes")
      ->required();
  add_device(app, options.device);
  add_explain_device(app, options.explain_device);
  app->add_option("--devices", options.devices,
                  "all devices that the selectors keep, ';' between them: each runs a part of the "
                  "program, of the batch or of the rows")
      ->type_name("SEL[;SEL]…")
      ->check([](const std::string& text) { return text.empty() ? "the selector is empty" : ""; })
      ->excludes("--device")
      ->excludes("--explain-device");
  add_inputs(app, options.in, "an input tensor; see Tensors below",
             "sizes (and type) of an input; NAME= is a scalar. Of an ONNX model also the size of "
             "an open dimension");
  add_repeated(app, "--output", options.outputs, "write a result as .npy or .png", "NAME=FILE");
  CLI::Option* top_k = add_integer(app, "--top-k", options.top_k, 1, 1000000,
                                   "print the so many largest elements of each row of a result, "
                                   "with their indices");
  app->add_option("--labels", options.labels,
                  "names of the classes that --top-k finds: a text file, a line each")
      ->type_name("FILE")
      ->needs(top_k);
  app->add_flag(
      "--check{all}", options.check,
      "compare with the interpreter; --check=sample:N looks at N elements of each result");
  app->add_option("--check-kernels", options.check_kernels,
                  "run kernel by kernel, compare each with the interpreter on what the device's "
                  "memory held, and write the first one that is wrong into this folder: the "
                  "kernel as Stripe, what it read, made and should have made as .npy files")
      ->type_name("DIR");
  app->add_flag("--profile", options.profile, "time each kernel");
  app->add_option("--function", options.function, "function to run, if the file has several")
      ->type_name("NAME");
  app->add_flag("--fast-math", options.fast_math,
                "allow floats to be rounded otherwise than written");
  add_no_peepholes(app, options.no_peepholes);
  add_constants(app, options.constants);
  add_tune(app, options.tune);
  add_repeated(app, "--set", options.settings,
               "parameter of the device's pipeline; `stria hw --device SEL` lists them",
               "NAME=VALUE");
  add_repro_dir(app, options.repro_dir);
  const std::chrono::duration<double> step = RuntimeOptions().plugin_time_limit;
  add_time_limit(
      app, options.time_limit_s, 0,
      fmt::format(
          "give up if the device is not done after so long; 0: never. Loading the plugin and "
          "opening the device do not count: each step of that has {:g} s of its own",
          step.count()));
  add_integer(app, "--threads", options.threads, 1, 4096,
              "threads of this machine that the run may take (default: $STRIA_THREADS, or all "
              "usable cores)");
  add_run_repro(app, options.run_repro);
  app->footer(
      std::string(kTensors) + kPictures + kSelectors +
      "\n\nA device that is lost, has no memory left or is not done within --time-limit, or cannot "
      "be "
      "opened\n"
      "or compiled for, hands the run to the next one that SEL leaves, with a line on stderr. One "
      "name\n"
      "alone, --set and --tune leave none: a failure there is the run's."
      "\nWith --devices the run goes on without a device that fails, from the same inputs."
      "\n\nExamples:\n"
      "  stria run matmul.tile --device llvm_cpu --input A=a.npy --input B=b.npy --output C=c.npy\n"
      "  stria run matmul.tile --device reference --input A=random:1 --shape A=64,32 \\\n"
      "      --input B=random:2 --shape B=32,16 --check\n"
      "  stria run matmul.tile --explain-device --input-dir data\n"
      "  stria run edges.tile --device auto --input Photo=photo.png --output Edges=edges.png\n"
      "  stria run layer.tile --device llvm_cpu --input X=x.npy --input W=w.npy --const W "
      "--profile\n"
      "  stria run wrong/kernel.stripe --device acme --check --input A=wrong/in_A.npy\n"
      "  stria run batch.tile --devices 'opencl:0;opencl:1' --input X=x.npy --check=sample:100\n"
      "  stria run classifier.onnx --device auto --input image=photo.jpg --top-k 5 \\\n"
      "      --labels classes.txt --picture size=256 --picture crop=224 \\\n"
      "      --picture mean=0.485,0.456,0.406 --picture std=0.229,0.224,0.225");
}

void define(CLI::App* app, CompileOptionsText& options) {
  app->add_option("PROG", options.program, "program, a .tile or .onnx file; - is Tile from stdin")
      ->required();
  add_device(app, options.device);
  add_explain_device(app, options.explain_device);
  app->add_option("--to", options.to,
                  "stripe: the device Stripe; tile: the Tile that an ONNX model is, for no device, "
                  "with --dump-dir also its weights as .npy files")
      ->check(CLI::IsMember({"stripe", "tile"}))
      ->default_str("stripe");
  add_inputs(app, options.in,
             "an input tensor: its sizes count, and its elements where an ONNX model's sizes "
             "depend on them",
             "sizes and type (default fp32) of an input");
  app->add_option("--dump-dir", options.dump_dir,
                  "write every stage there, NN_name.tile and .stripe, and the kernels' sources; "
                  "if a step or the build fails, the stages before it")
      ->type_name("DIR");
  CLI::Option* output = app->add_option("-o,--output", options.output,
                                        "file for the device Stripe, or the Tile; - is stdout")
                            ->type_name("OUT")
                            ->required();
  app->add_flag_callback(
      "--explain-cost",
      [&options, output] {
        options.explain_cost = true;
        output->required(false);
      },
      "run the program on random inputs, and print for each kernel the time that the hardware "
      "model predicts beside the one that is measured; --output may be left out then");
  app->add_option("--function", options.function, "function to compile, if the file has several")
      ->type_name("NAME");
  app->add_flag("--fast-math", options.fast_math,
                "allow floats to be rounded otherwise than written");
  add_no_peepholes(app, options.no_peepholes);
  add_constants(app, options.constants);
  add_tune(app, options.tune);
  add_repeated(app, "--set", options.settings,
               "parameter of the device's pipeline; `stria hw --device SEL` lists them",
               "NAME=VALUE");
  add_repro_dir(app, options.repro_dir);
  app->footer(
      std::string(kSelectors) +
      "\n\nExamples:\n"
      "  stria compile matmul.tile --device llvm_cpu --shape A=64,32 --shape B=32,16 -o "
      "matmul.stripe\n"
      "  stria compile matmul.tile --device llvm_cpu --shape A=64,32:fp16 --shape B=32,16:fp16 \\\n"
      "      --dump-dir stages -o matmul.stripe\n"
      "  stria compile matmul.tile --device llvm_cpu --shape A=512,512 --shape B=512,512 \\\n"
      "      --explain-cost\n"
      "  stria compile --to tile model.onnx --dump-dir weights -o model.tile\n"
      "  stria run model.tile --device llvm_cpu --input-dir weights --input In_image=image.npy");
}

void define(CLI::App* app, OptOptions& options) {
  CLI::Option* file =
      app->add_option("FILE", options.file, "a .stripe file; - is stdin")->required();
  app->add_option("--pipeline", options.pipeline, "passes to run, a JSON file")
      ->type_name("P.json");
  add_repeated(app, "--hw", options.hw,
               "hardware model, a JSON file; given again, a file that refines it", "H.json");
  add_repeated(app, "--set", options.settings, "parameter of model and pipeline", "NAME=VALUE");
  app->add_flag("--print-after-all", options.print_after_all, "print the program after every step");
  app->add_flag_callback(
      "--print-pipeline",
      [&options, file] {
        options.print_pipeline = true;
        file->required(false);
      },
      "print the steps of --pipeline as they run, fragments in their place, and end");
  app->add_option("--stop-after", options.stop_after, "end behind the step of that name")
      ->type_name("STEP");
  app->add_option(
         "--interleavings", options.interleavings,
         "run the program on random inputs, in full, under N orders of what goes on at once: "
         "races, phases out of order and endless waits are errors")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  // Option callbacks run before CLI11 looks for what is required.
  app->add_option_function<std::string>(
         "--explain",
         [&options, file](const std::string& pass) {
           options.explain = pass;
           file->required(false);
         },
         "say what a pass is for; with FILE also, on stderr, what it did")
      ->type_name("PASS");
  add_repro_dir(app, options.repro_dir);
  add_run_repro(app, options.run_repro);
  app->footer(
      std::string(
          "\nWithout --pipeline: parse, verify, print.\n\nExamples:\n"
          "  stria opt program.stripe\n"
          "  stria opt program.stripe --hw cpu.json --pipeline cpu_passes.json --print-after-all\n"
          "  stria opt program.stripe --hw accel.json --set NUM_SRAM=8 --pipeline p.json "
          "--stop-after "
          "tile\n"
          "  stria opt --pipeline cpu_passes.json --hw cpu.json --print-pipeline\n"
          "  stria opt ring.stripe --interleavings 100\n"
          "  stria opt --explain autotile\n\nPasses, each with its options:\n") +
      passes_help());
}

void define(CLI::App* app, HwOptions& options) {
  app->add_option("MODEL", options.model, "hardware model, a JSON file; without one the device's");
  app->add_option("--device", options.device,
                  "what this device reports fills what the model leaves out; see Selectors below")
      ->type_name("SEL");
  add_repeated(app, "--set", options.settings, "parameter of the model", "NAME=VALUE");
  add_hw(app);
  CLI::Option* json = app->add_flag("--json", options.json, "print the merged model as JSON");
  app->add_flag("--calibration", options.calibration,
                "print what costs know of units beside their rates: defaults, and the model's own")
      ->excludes(json);
  app->add_flag("--require-sources", options.require_sources,
                "fail if the model does not say of a number where it is from");
  app->footer(
      std::string("\nFor each field of the merged model: where it is from (file and line; --set, "
                  "device or\ndefault if that decided it), and for numbers the source that the "
                  "model names. Then\nthe parameters for --set, of the model's file, or else of "
                  "the device's pipeline (run and\ncompile take them): name, default, what is "
                  "legal.\n") +
      kSelectors +
      "\n\nExamples:\n"
      "  stria hw accelerator.json\n"
      "  stria hw accelerator.json --set NUM_SRAM=16 --json\n"
      "  stria hw --device llvm_cpu\n"
      "  stria hw --device llvm_cpu --calibration");
}

void define(CLI::App* app, CalibrateCommand& options) {
  app->add_option("DEVICE", options.device, "which device; see Selectors below")->required();
  app->add_option("-o,--output", options.output,
                  "file for the numbers; - is stdout (default: one for this device in "
                  "$STRIA_HW_DIR or ~/.config/stria/hw, read whenever the device is opened)")
      ->type_name("OUT");
  add_integer(app, "--seconds", options.seconds, 1, 3600, "how long programs run, together")
      ->default_str(std::to_string(options.seconds));
  app->add_flag(
      "--tiles", options.tiles,
      "fit, too, what tiles of products are chosen by: on a machine where nothing else runs");
  app->add_flag("--rates", options.rates, "fit rates, too, that were measured already");
  app->add_flag("--anyway", options.anyway, "write the numbers also if times vary too much");
  app->add_flag("--all-kernels", options.all_kernels, "print every kernel");
  app->footer(
      std::string(
          "\nRuns a fixed set of programs, and fits those numbers of the hardware model that "
          "are estimates,\nuntil it predicts what each kernel took. If the times vary too "
          "much, nothing is written without --anyway.\n") +
      kSelectors +
      "\n\nExamples:\n  stria calibrate llvm_cpu\n  stria calibrate opencl:0 -o my_gpu.json\n"
      "  stria run matmul.tile --device opencl:0 --hw my_gpu.json --input-dir data");
}

void define(CLI::App* app, FmtOptions& options) {
  app->add_option("FILE", options.files, "a .tile file, - is stdin; several with -i or --check")
      ->required();
  app->add_flag("-i,--in-place", options.in_place, "rewrite the files");
  app->add_flag("--check", options.check,
                "only say which files are not formatted; exit 1 if one is not");
  app->footer(
      "\nComments and single empty lines stay. Formatting twice changes nothing.\n\nExamples:\n"
      "  stria fmt matmul.tile\n"
      "  stria fmt -i matmul.tile softmax.tile\n"
      "  stria fmt --check *.tile");
}

void define(CLI::App* app, GradOptions& options) {
  app->add_option("FILE", options.file, "program, a .tile or .onnx file; - is Tile from stdin")
      ->required();
  add_inputs(app, options.in, "an input of an ONNX model whose sizes depend on its elements",
             "sizes that an ONNX model leaves open");
  app->add_option("--wrt", options.wrt, "inputs to differentiate by (default: every one)")
      ->delimiter(',')
      ->type_name("A,B");
  app->add_option("--function", options.function, "which function of the file")->type_name("NAME");
  app->add_option("--of", options.of,
                  "the result to differentiate (default: all that depend on --wrt)")
      ->type_name("R");
  app->add_flag("--keep-results", options.keep_results,
                "give the function's results as well, first");
  app->add_option("--name", options.name, "name of the function made (default: …_gradient)")
      ->type_name("NAME");
  app->footer(
      "Prints a function with the inputs of the given one and, for each differentiated\n"
      "result R that is not known to be of rank 0, an input DR: the derivative of a number\n"
      "by R. It gives that number's derivative by each input. What is zero is said on stderr.\n\n"
      "Examples:\n"
      "  stria grad conv.tile\n"
      "  stria grad net.tile --function loss --wrt W1,W2 --of L --keep-results");
}

void define(CLI::App* app, ReduceOptions& options) {
  app->add_option("FILE", options.file, "a .stripe file, or a stria-repro-HASH.stripe")->required();
  app->add_option("--pipeline", options.pipeline,
                  "passes that fail, leave what is not legal, or change values; a JSON file "
                  "(default: the reproducer's)")
      ->type_name("P.json");
  app->add_option("--hw", options.hw, "hardware model, a JSON file (default: the reproducer's)")
      ->type_name("H.json");
  add_repeated(app, "--set", options.settings, "parameter of model and pipeline", "NAME=VALUE");
  app->add_flag("--exact", options.exact,
                "floats differ if a bit does, not only beyond the bound of their rounding");
  add_integer(app, "--seed", options.seed, 0, INT64_MAX,
              "of the random inputs that values are computed from")
      ->default_str(std::to_string(options.seed));
  app->add_option("--test", options.test,
                  "a shell command that fails, other than by 0, for the file put in place of {}, "
                  "or at its end")
      ->type_name("COMMAND");
  app->add_option("--says", options.says,
                  "what the command prints when it fails, whatever its code")
      ->type_name("TEXT");
  app->add_flag("--invalid", options.invalid, "also try programs that the verifier refuses");
  add_time_limit(app, options.time_limit_s, 0.001, "end with what there is then");
  app->add_option("-o,--output", options.output, "file for the small program (default: stdout)")
      ->type_name("OUT");
  app->footer(
      "\nDrops statements, blocks, refinements, constraints and indices, shrinks ranges and "
      "tensors,\nunwraps blocks, and makes forms, types and names plain, until no step keeps the "
      "failure.\nThe failure is the same while the same step fails with the same kind of message, "
      "or the\ncommand ends with the same code. A reproducer stays one.\n"
      "\nExamples:\n"
      "  stria reduce stria-repro-0123456789abcdef.stripe -o small.stripe\n"
      "  stria reduce program.stripe --pipeline passes.json --hw accel.json --exact\n"
      "  stria reduce program.stripe --test \"stria opt {} --pipeline passes.json\" --says 'not "
      "legal'\n"
      "  stria reduce refused.stripe --test \"stria opt\" --says 'is no name' --invalid");
}

void define(CLI::App* app, SimOptions& options) {
  CLI::Option* program = app->add_option("PROG", options.program,
                                         "program, a .tile or .onnx file; - is Tile from stdin")
                             ->required();
  add_inputs(app, options.in,
             "an input tensor; without one random numbers of its --shape; see Tensors below",
             "sizes and type (default fp32) of an input");
  add_repeated(app, "--hw", options.hw,
               "hardware model, a JSON file (default: the plugin sim's); given again, a file that "
               "refines it, as those of hwmodels/dram",
               "H.json");
  app->add_option("--pipeline", options.pipeline,
                  "passes, a JSON file (default: the plugin sim's scratchpad.json, for any model)")
      ->type_name("P.json");
  add_repeated(app, "--set", options.settings, "parameter of model and pipeline", "NAME=VALUE");
  app->add_option("--map", options.map,
                  "tiles: quick looks at a few hundred, best at all and says what it proves, up to "
                  "a minute a kernel (default: the pipeline's, quick)")
      ->check(CLI::IsMember({"quick", "best"}));
  app->add_option("--report", options.report,
                  "write report.json, kernels.csv and trace.json into this folder")
      ->type_name("DIR");
  app->add_option("--fidelity", options.fidelity,
                  "roofline: bounds alone; event: discrete events; cycle: tick by tick, slow")
      ->check(CLI::IsMember({"roofline", "event", "cycle"}))
      ->capture_default_str();
  app->add_option(
         "--buses", options.buses,
         "how transfers share a bus: fair rates, or the schedule of those in turns of 256 bytes")
      ->check(CLI::IsMember({"fluid", "burst"}))
      ->capture_default_str();
  app->add_flag("--no-skip-ahead", options.no_skip_ahead,
                "look at every point of steady loops; the same times, and each task in the trace");
  CLI::Option* timing = app->add_flag("--timing-only", options.timing_only, "compute no values");
  app->add_flag("--functional-only", options.functional_only,
                "compute values alone, and compare them with the interpreter's")
      ->excludes(timing);
  // Option callbacks run before CLI11 looks for what is required.
  app->add_flag_function(
      "--validate",
      [&options, program](int64_t) {
        options.validate = true;
        program->required(false);
      },
      "print published and closed-form cases, expected and ours, and nothing else");
  CLI::Option* array = app->add_option("--array", options.array, "systolic array for the table")
                           ->type_name("ROWSxCOLUMNS");
  app->add_option_function<std::string>(
         "--scalesim-topology",
         [&options, program](const std::string& path) {
           options.topology = path;
           program->required(false);
         },
         "a layer table of SCALE-Sim instead of a program: cycles of each layer on --array")
      ->type_name("FILE.csv")
      ->needs(array);
  app->add_option("--dataflow", options.dataflow, "what stays in the array: os, ws or is")
      ->capture_default_str();
  app->add_option("--function", options.function, "function to run, if the file has several")
      ->type_name("NAME");
  add_constants(app, options.constants);
  app->footer(
      std::string(kTensors) +
      "\n\nExamples:\n"
      "  stria sim matmul.tile --shape A=64,32:i8 --shape B=32,48:i8 --report sim\n"
      "  stria sim conv.tile --shape I=224,224,3:i8 --shape K=7,7,3,64:i8 --timing-only \\\n"
      "      --hw accelerator.json --set NUM_CONV=8\n"
      "  stria sim mlp.tile --shape X=256,784:i8 --shape W=784,512:i8 --timing-only \\\n"
      "      --hw hwmodels/templates/tpu_like.json --hw hwmodels/dram/ddr4_2400.json\n"
      "  stria sim --validate\n"
      "  stria sim --scalesim-topology alexnet.csv --array 32x32 --dataflow ws");
}

void define(CLI::App* app, ShowOptions& options) {
  app->add_option("PROG", options.program, "program, a .tile or .onnx file; - is Tile from stdin")
      ->required();
  add_inputs(app, options.in,
             "an input tensor: its sizes count, and its elements where an ONNX model's sizes "
             "depend on them",
             "sizes of an input, or of an open dimension of an ONNX model");
  add_repeated(
      app, "--device", options.devices,
      "a device to ask what it lacks; may be given several times; none: ask none (default: "
      "every device)",
      "SELECTOR");
  app->add_flag("--json", options.json, "print JSON, with exact numbers");
  app->footer(
      std::string(
          "\nOf an ONNX model: inputs, outputs, and for each node its operator, its results, the\n"
          "operations of one run and the bytes of its weights; `known` is what is computed once, "
          "when\n"
          "the model becomes a program. While sizes are open the nodes have those that the file "
          "says.\n"
          "What keeps a model from running is listed, all at once. Of Tile: functions and, once "
          "all\n"
          "sizes are given, the operations of each kernel. Once all sizes are known, each device "
          "says\n"
          "what it lacks: types of elements, memory for inputs and outputs. Nothing is built for "
          "that.\n") +
      kSelectors +
      "\n\nExamples:\n"
      "  stria show model.onnx\n"
      "  stria show detector.onnx --shape image=1,3,640,640 --json\n"
      "  stria show detector.onnx --shape batch=1 --device vulkan:0 --device llvm_cpu\n"
      "  stria show matmul.tile --shape A=64,32 --shape B=32,16");
}

void define(CLI::App* app, PickVerb& options) {
  app->add_option("PROG", options.program, "program, a .tile or .onnx file; - is Tile from stdin")
      ->required();
  add_device(app, options.device);
  add_inputs(app, options.in,
             "an input tensor: its sizes count, and its elements where an ONNX model's sizes "
             "depend on them",
             "sizes of an input, or of an open dimension of an ONNX model");
  add_constants(app, options.constants);
  app->add_flag("--bounds", options.bounds,
                "only what is known without opening a device: quick, and rough");
  add_integer(app, "--measure", options.measure_ms, 0, 600'000,
              "where intervals overlap, run the program there on random values, for so many "
              "milliseconds in all, and keep the times")
      ->type_name("MS");
  add_repeated(app, "--model", options.models,
               "rank a hardware model beside the devices, though nothing runs there; KIND says "
               "whose pipeline it gets (opencl:gpu; default: the first kind whose own model has "
               "units of these names)",
               "FILE[=KIND]");
  app->add_option("--lock", options.lock,
                  "write the best device there, as a selector: `--device @FILE` takes it, or fails")
      ->type_name("FILE");
  app->add_flag("--kernels", options.kernels, "the time of each kernel on the device that is best");
  app->add_option("--why-not", options.why_not, "say what speaks against this device")
      ->type_name("DEVICE");
  app->add_flag("--json", options.json, "print JSON, with exact numbers");
  app->footer(std::string("\nWhich device had the program better run on? Each one that the "
                          "selector keeps says what "
                          "a run\n"
                          "takes there: by its hardware model, kernel by kernel after its passes, "
                          "or by its plugin. "
                          "Nine\n"
                          "runs of ten are expected in the interval in brackets. Nothing is built "
                          "or run for that.\n"
                          "What is best is said in the selector:\n"
                          "  auto:latency       the shortest run (default)\n"
                          "  auto:first-result  passes and compiler, constants and one run\n"
                          "  auto, runs=N       the same for each of N runs: it is compiled once\n"
                          "  auto:energy        the least energy, where it is known\n"
                          "  deadline<=5ms      none that takes longer; power<=25W likewise\n") +
              kSelectors +
              "\n\nExamples:\n"
              "  stria pick matmul.tile --shape A=64,32 --shape B=32,16\n"
              "  stria pick model.onnx --device 'auto:first-result, !sim' --json\n"
              "  stria pick model.onnx --model next_gpu.json=opencl:gpu\n"
              "  stria pick conv.tile --shape I=1,56,56,64 --shape K=3,3,64,64 --why-not opencl:0");
}

void define(CLI::App* app, NewPluginOptions& options) {
  PluginChoice& choice = options.choice;
  app->add_option("NAME", choice.name,
                  "the plugin's name, which its folder gets: letters from a to z, digits and '_'")
      ->required();
  const auto add = [app](const char* name, std::string& value, const char* help,
                         const char* values) {
    app->add_option(name, value, help)->type_name(values)->capture_default_str();
  };
  add("--lang", choice.language, "the language of the project", "c|c++|rust");
  add("--memory", choice.memory, "where tensors are: in the host's memory, or in the device's own",
      "host|own");
  add("--queue", choice.queue, "who runs work: the host's threads, or a queue of the device's own",
      "host|own");
  add("--codegen", choice.codegen, "kernels: interpreted by the host, or C that is generated",
      "none|c");
  app->footer(
      "\nThe project builds, and every program is right on its device, before a line is changed.\n"
      "The calls of your own driver then go into the files src/vendor_*.\n"
      "\nExamples:\n  stria new-plugin my_npu\n"
      "  stria new-plugin my_npu --lang c --memory own --queue own --codegen c\n"
      "  stria new-plugin my_npu --lang rust --memory own");
}

void define(CLI::App* app, OpsOptions& options) {
  app->add_option("NAME", options.names, "operators to look for (default: all)");
  app->add_flag("--json", options.json, "print JSON");
  app->footer(
      "\nThe versions are those of the operator's domain in which it came or changed.\n"
      "\nExamples:\n  stria ops\n  stria ops Conv Resize\n  stria ops --json");
}

}  // namespace stria::command
