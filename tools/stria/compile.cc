// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <cstdio>
#include <filesystem>

#include "open_device.h"
#include "program_inputs.h"
#include "report.h"
#include "reproducer_file.h"
#include "template_settings.h"
#include "stria/base/file.h"
#include "stria/runtime/device_selector.h"
#include "stria/runtime/inside.h"

namespace stria::command {
namespace {

// A plugin names its texts; only the last part of a name may become a file name, and a kernel made
// of many ("kernel_0+kernel_1+…") has a long one.
std::string file_name(const std::string& name) {
  const std::string file = short_kernel_name(std::filesystem::path(name).filename());
  return file.empty() || file == "." || file == ".." ? "source.txt" : file;
}

// Writes `files`, some of them into `folder` (may be empty), which is made if it is not there. All
// or nothing: a folder that was made for files that could not be written goes again.
Status write_all(const std::vector<FileText>& files, const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> made;  // innermost first
  for (std::filesystem::path missing = std::filesystem::absolute(folder / ".").parent_path();
       !folder.empty() && !std::filesystem::exists(missing, error); missing = missing.parent_path())
    made.push_back(missing);
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  Status status =
      error ? invalid_argument("cannot make the folder '{}': {}", folder.string(), error.message())
            : write_files(files);
  if (!status.ok())
    for (const std::filesystem::path& path : made) std::filesystem::remove(path, error);
  return status;
}

Outcome compile_program(const CompileOptionsText& options, ReproducerFile& reproducer) {
  STRIA_OR_FAIL(std::vector<ShapeText> shapes, ExitCode::usage, parse_shapes(options.shapes));
  STRIA_FAIL_IF_ERROR(ExitCode::usage, parse_device_selector(options.device).status());
  STRIA_OR_FAIL(Program program, ExitCode::program,
                Program::read(options.program, options.function));
  std::vector<std::string> names;
  for (const ShapeText& shape : shapes) names.push_back(shape.name);
  const InputTypes types = types_of_shapes(program, shapes);
  for (const ProgramInput& input : program.inputs()) {
    if (types.count(input.name)) continue;
    STRIA_FAIL_IF(check_input_names(program, "--shape", names));  // perhaps only misspelled
    return Outcome(ExitCode::program,
                   invalid_argument("'{}' needs sizes for its input {}: --shape {}=…",
                                    program.name(), input.text(), input.name));
  }
  TemplateSettings parameters;
  STRIA_FAIL_IF(parse_settings(options.settings, parameters));
  const CompileOptions how{.fast_math = options.fast_math,
                           .constants = {options.constants.begin(), options.constants.end()},
                           .keep_stages = !options.dump_dir.empty(),
                           .tune = options.tune,
                           .parameters = parameters,
                           .recorder = &reproducer};
  Device device;
  // Only the device knows its parameters; it can be slow to open.
  if (!how.parameters.empty()) {
    STRIA_FAIL_IF(open_device(options.device, device));
    STRIA_FAIL_IF_ERROR(ExitCode::usage,
                        Inside::check_parameters(device, how).with_context("--set"));
  }
  Compilation generic;
  STRIA_FAIL_IF(lower(program, types, how, generic));
  std::fputs(generic.warnings.c_str(), stderr);
  STRIA_FAIL_IF(check_input_names(program, "--shape", names));
  if (how.parameters.empty()) STRIA_FAIL_IF(open_device(options.device, device));
  STRIA_OR_FAIL(Compilation compilation, ExitCode::device,
                Inside::specialize(device, std::move(generic), how));
  print_undecided(compilation.steps);
  std::vector<SourceText> sources;
  if (!options.dump_dir.empty()) {
    STRIA_OR_FAIL(Executable executable, ExitCode::device, Inside::load(device, compilation, how));
    STRIA_OR_FAIL(sources, ExitCode::device, executable.sources());
  }
  // All is made before anything is written, and written all or not at all.
  std::vector<FileText> files;
  if (options.output != "-") files.push_back({options.output, compilation.device_text});
  if (!options.dump_dir.empty()) {
    const std::filesystem::path folder = options.dump_dir;
    for (const SourceText& stage : compilation.stages)
      files.push_back({folder / stage.name, stage.text});
    for (const SourceText& source : sources)
      files.push_back({folder / file_name(source.name), source.text});
  }
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_all(files, options.dump_dir));
  if (options.output == "-")
    std::fwrite(compilation.device_text.data(), 1, compilation.device_text.size(), stdout);
  return Outcome();
}

}  // namespace

Outcome compile(const CompileOptionsText& options) {
  ReproducerFile reproducer(options.repro_dir);
  return reproducer.around([&] { return compile_program(options, reproducer); });
}

}  // namespace stria::command
