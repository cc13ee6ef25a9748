// SPDX-License-Identifier: Apache-2.0
#include "verbs/compile.h"

#include <cstdio>
#include <filesystem>
#include <set>

#include "explain_cost.h"
#include "inputs/device_choice.h"
#include "inputs/onnx_inputs.h"
#include "inputs/open_device.h"
#include "inputs/program_inputs.h"
#include "inputs/template_settings.h"
#include "message.h"
#include "output_files.h"
#include "repeat/reproducer_file.h"
#include "report.h"
#include "show/pick_table.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "verbs/compile_tile.h"

namespace stria::command {
namespace {

// A plugin names its texts; only the last part of a name may become a file name, and a kernel made
// of many ("kernel_0+kernel_1+…") has a long one.
std::string file_name(const std::string& name) {
  const std::string file = short_kernel_name(std::filesystem::path(name).filename());
  return file.empty() || file == "." || file == ".." ? "source.txt" : file;
}

// With --explain-cost there may be no output.
bool is_file(const std::string& output) { return !output.empty() && output != "-"; }

// The stages of a compilation that fails, beside what the verb's own recorder is told.
class StageRecorder : public FailureRecorder {
 public:
  explicit StageRecorder(FailureRecorder& own) : own_(own) {}
  void begin(const std::string& reproducer) override { own_.begin(reproducer); }
  void end() override { own_.end(); }
  void failed(const std::string& reproducer) override { own_.failed(reproducer); }
  void stage(const std::string& name, const std::string& text) override {
    stages.push_back({name, text});
  }
  std::vector<FileText> stages;

 private:
  FailureRecorder& own_;
};

// The names of a folder's files: one that is taken already gets a number before its ending.
class FileNames {
 public:
  std::string add(const std::string& name) {
    const std::filesystem::path wanted = name;
    std::string out = name;
    for (int n = 2; !taken_.insert(out).second; ++n)
      out = fmt::format("{}-{}{}", wanted.stem().string(), n, wanted.extension().string());
    return out;
  }

 private:
  std::set<std::string> taken_;
};

// The program as Tile, and its weights into the folder. No device has a part in it.
Outcome compile_to_tile(const CompileOptionsText& options) {
  const std::pair<const char*, bool> others[] = {
      {"--device", !options.device.empty()},    {"--function", !options.function.empty()},
      {"--const", !options.constants.empty()},  {"--fast-math", options.fast_math},
      {"--no-peepholes", options.no_peepholes}, {"--tune", options.tune != 0},
      {"--explain-cost", options.explain_cost}, {"--explain-device", options.explain_device},
      {"--set", !options.settings.empty()}};
  for (const auto& [name, given] : others)
    if (given)
      return Outcome(ExitCode::usage,
                     invalid_argument("--to tile writes the model itself: {} says how a device "
                                      "runs it",
                                      name));
  if (!is_onnx(options.program))
    return Outcome(ExitCode::usage,
                   invalid_argument("--to tile is for .onnx files; `stria fmt` writes Tile in its "
                                    "canonical form"));
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  Program program;
  ReadInputs in;
  STRIA_FAIL_IF(read_program(options.program, "", given, Wanted::sizes, program, in));
  std::vector<FileText> files;
  const std::string text = tile_with_head(program, options.program);
  if (options.output != "-") files.push_back({options.output, text});
  if (!options.dump_dir.empty())
    for (FileText& file : weight_files(program, options.dump_dir)) files.push_back(std::move(file));
  std::vector<NamedFile> read = files_of(given), written;
  read.push_back({"PROG", options.program});
  for (const FileText& file : files)
    written.push_back({&file == files.data() && options.output != "-" ? "--output" : "--dump-dir",
                       file.path.string()});
  STRIA_FAIL_IF(check_files_differ(written, read));
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files, options.dump_dir));
  if (options.output == "-") std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return Outcome();
}

// What there is when a step or the plugin's build fails is what its author wants to see. The
// message says where it is.
Outcome with_stages(Outcome failure, const CompileOptionsText& options, const NamedFile& read,
                    std::vector<FileText> stages) {
  if (options.dump_dir.empty() || stages.empty()) return failure;
  std::vector<NamedFile> written;
  for (FileText& stage : stages) {
    stage.path = std::filesystem::path(options.dump_dir) / stage.path;
    written.push_back({"--dump-dir", stage.path.string()});
  }
  Status status = check_files_differ(written, {read}).status();
  if (status.ok()) status = write_files(stages, options.dump_dir);
  std::string message = failure.status().message();
  if (!message.ends_with('\n')) message += '\n';
  message += status.ok()
                 ? fmt::format("the stages so far are in {}: {} is the last",
                               shown_name(options.dump_dir), stages.back().path.filename().string())
                 : "the stages so far are not written: " + status.message();
  return Outcome(failure.code(), Status(failure.status().code(), message));
}

Outcome compile_program(const CompileOptionsText& options, ReproducerFile& reproducer) {
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  STRIA_FAIL_IF(check_selector(options.device, options.settings.empty()));
  Program program;
  ReadInputs in;
  const auto first = [&](const Compilation& before, Device& device) {
    return open_device(options.device, device, 0, 0, &before);
  };
  STRIA_FAIL_IF(
      read_program(options.program, options.function, given, Wanted::sizes, program, in, first));
  const bool onnx = is_onnx(options.program);
  const std::vector<std::string> names = onnx ? std::vector<std::string>() : given.shape_names();
  InputTypes types = types_of_shapes(program, given);
  if (!onnx) STRIA_FAIL_IF(read_inputs(program, given, in));
  for (const auto& [name, type] : in.types) types[name] = type;
  for (const ProgramInput& input : program.inputs()) {
    if (types.count(input.name)) continue;
    STRIA_FAIL_IF(check_input_names(program, "--shape", names));  // perhaps only misspelled
    return Outcome(ExitCode::program,
                   invalid_argument("'{}' needs sizes for its input {}: --shape {}=…",
                                    program.name(), input.text(), input.name));
  }
  TemplateSettings parameters;
  STRIA_FAIL_IF(parse_settings(options.settings, parameters));
  StageRecorder recorder(reproducer);
  const CompileOptions how{.fast_math = options.fast_math,
                           .no_peepholes = options.no_peepholes,
                           .constants = {options.constants.begin(), options.constants.end()},
                           .keep_stages = !options.dump_dir.empty(),
                           .watch_kernels = options.explain_cost,
                           .tune = options.tune,
                           .parameters = parameters,
                           .recorder = &recorder};
  const NamedFile read{"PROG", options.program};
  std::vector<NamedFile> written;
  if (is_file(options.output)) written.push_back({"--output", options.output});
  STRIA_FAIL_IF(check_files_differ(written, {read}));
  Device device;
  Pick picked;
  Pick* const asked = options.explain_device ? &picked : nullptr;
  // Only the device knows its parameters; it can be slow to open.
  if (!how.parameters.empty()) {
    STRIA_FAIL_IF(open_device(options.device, device, 0, 0, nullptr, asked));
    STRIA_FAIL_IF(check_parameters(device, how));
  }
  Compilation generic;
  STRIA_FAIL_IF(lower(program, types, how, generic));
  print_diagnostics(generic.warnings);
  STRIA_FAIL_IF(check_input_names(program, "--shape", names));
  // Before the time is spent.
  if (!options.dump_dir.empty())
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_folder_writable(options.dump_dir));
  else if (is_file(options.output))
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(options.output));
  if (how.parameters.empty())
    STRIA_FAIL_IF(open_device(options.device, device, 0, 0, &generic, asked));
  if (asked != nullptr) std::fputs(pick_text(picked, false).c_str(), stderr);
  for (const hal::NamedText& stage : generic.stages) recorder.stage(stage.name, stage.text);
  Result<Compilation> made = CompileDriver::specialize(device, std::move(generic), how);
  if (!made)
    return with_stages(Outcome(ExitCode::device, made.status()), options, read, recorder.stages);
  const Compilation& compilation = *made;
  print_undecided(compilation.steps);
  std::vector<SourceText> sources;
  std::string costs;
  if (!options.dump_dir.empty() || options.explain_cost) {
    Result<Executable> loaded = CompileDriver::load(device, compilation, how);
    if (!loaded)
      return with_stages(Outcome(ExitCode::device, loaded.status()), options, read,
                         recorder.stages);
    const Executable& executable = *loaded;
    if (!options.dump_dir.empty()) {
      STRIA_OR_FAIL(sources, ExitCode::device, executable.sources());
    }
    if (options.explain_cost) STRIA_FAIL_IF(explain_cost(device, executable, costs));
  }
  // All is made before anything is written, and written all or not at all.
  std::vector<FileText> files;
  if (is_file(options.output)) files.push_back({options.output, compilation.device_text});
  if (!options.dump_dir.empty()) {
    const std::filesystem::path folder = options.dump_dir;
    FileNames taken;
    for (const SourceText& stage : compilation.stages)
      files.push_back({folder / taken.add(stage.name), stage.text});
    for (const SourceText& source : sources)
      files.push_back({folder / taken.add(file_name(source.name)), source.text});
    // Only now their names are known.
    for (size_t i = written.size(); i < files.size(); ++i)
      written.push_back({"--dump-dir", files[i].path.string()});
    STRIA_FAIL_IF(check_files_differ(written, {read}));
  }
  STRIA_FAIL_IF(check_process());
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files, options.dump_dir));
  if (options.output == "-")
    std::fwrite(compilation.device_text.data(), 1, compilation.device_text.size(), stdout);
  std::fflush(stdout);
  // Nothing else may stand between the lines of a program.
  std::fputs(costs.c_str(), options.output == "-" ? stderr : stdout);
  return Outcome();
}

}  // namespace

Outcome compile(const CompileOptionsText& options) {
  if (options.to == "tile") return compile_to_tile(options);
  ReproducerFile reproducer(options.repro_dir);
  return reproducer.around([&] { return compile_program(options, reproducer); });
}

}  // namespace stria::command
