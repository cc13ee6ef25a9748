// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <cstdio>
#include <filesystem>

#include "open_device.h"
#include "program_inputs.h"
#include "stria/base/file.h"

namespace stria::command {
namespace {

// A plugin names its texts; only the last part of a name may become a file name.
std::string file_name(const std::string& name) {
  std::string file = std::filesystem::path(name).filename();
  return file.empty() || file == "." || file == ".." ? "source.txt" : file;
}

Status dump(const std::string& folder, const Compilation& compilation,
            const std::vector<hal::NamedText>& sources) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return invalid_argument("cannot make the folder '{}': {}", folder, error.message());
  for (const hal::NamedText& stage : compilation.stages)
    STRIA_RETURN_IF_ERROR(write_file(std::filesystem::path(folder) / stage.name, stage.text));
  for (const hal::NamedText& source : sources)
    STRIA_RETURN_IF_ERROR(
        write_file(std::filesystem::path(folder) / file_name(source.name), source.text));
  return Status();
}

}  // namespace

Outcome compile(const CompileOptionsText& options) {
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
  const CompileOptions how{.fast_math = options.fast_math,
                           .keep_stages = !options.dump_dir.empty()};
  STRIA_OR_FAIL(Compilation generic, ExitCode::program, lower_program(program, types, how));
  STRIA_FAIL_IF(check_input_names(program, "--shape", names));
  Device device;
  STRIA_FAIL_IF(open_device(options.device, device));
  STRIA_OR_FAIL(Compilation compilation, ExitCode::device,
                device.specialize(std::move(generic), how));
  std::vector<hal::NamedText> sources;
  if (!options.dump_dir.empty()) {
    STRIA_OR_FAIL(Executable executable, ExitCode::device, device.load(compilation, how));
    STRIA_OR_FAIL(sources, ExitCode::device, executable.sources());
  }
  // All is made before anything is written, and the result is written before the extra files: a
  // result that cannot be written leaves nothing behind.
  if (options.output != "-")
    STRIA_FAIL_IF_ERROR(ExitCode::program, write_file(options.output, compilation.device_text));
  if (!options.dump_dir.empty())
    STRIA_FAIL_IF_ERROR(ExitCode::program, dump(options.dump_dir, compilation, sources));
  if (options.output == "-")
    std::fwrite(compilation.device_text.data(), 1, compilation.device_text.size(), stdout);
  return Outcome();
}

}  // namespace stria::command
