// SPDX-License-Identifier: Apache-2.0
#include "inputs/program_inputs.h"

#include <algorithm>
#include <filesystem>

#include "inputs/onnx_inputs.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/tensor_io/numbers.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

const ShapeText* shape_of(const std::vector<ShapeText>& shapes, const std::string& name) {
  for (const ShapeText& shape : shapes)
    if (shape.name == name) return &shape;
  return nullptr;
}

std::string example_shape(const ProgramInput& input) {
  return input.name + "=" + (input.has_dims ? join(input.dims, ",") : "…");
}

// The tensor of one input, checked against its --shape, if it has one.
Result<HostTensor> read_input(const ProgramInput& input, const TensorSource& source,
                              const ShapeText* shape) {
  const std::string what = "input '" + input.name + "'";
  if (source.kind == TensorSource::Kind::texts)
    return read_tensor(source, {}, DataType::fp32, what);
  if (!source.is_file()) {
    const bool random = source.kind == TensorSource::Kind::random;
    const std::optional<DataType> wanted = shape ? shape->type : std::nullopt;
    std::optional<std::vector<int64_t>> sizes;
    if (shape != nullptr)
      sizes = shape->sizes;
    else if (!random)
      sizes = sizes_of_numbers(source.numbers.size(),
                               input.has_dims ? std::optional(input.dims.size()) : std::nullopt);
    if (!sizes)
      return invalid_argument("{} is {}, but its sizes are not given: --shape {}", what,
                              random ? "random" : "given as numbers", example_shape(input));
    if (wanted && source.type && *wanted != *source.type)
      return invalid_argument("{} is {} {}, but --shape says {}", what,
                              random ? "random" : "given as", name_of(*source.type),
                              name_of(*wanted));
    return read_tensor(source, *sizes, source.type.value_or(wanted.value_or(DataType::fp32)), what);
  }
  const auto check = [&](DataType type, const std::vector<int64_t>& sizes) {
    if (shape == nullptr || (shape->sizes == sizes && shape->type.value_or(type) == type))
      return Status();
    return invalid_argument("'{}' is {}, but --shape says {}", shown_name(source.path),
                            to_string(type, sizes),
                            to_string(shape->type.value_or(type), shape->sizes));
  };
  auto tensor = read_tensor(source, {}, DataType::fp32, what, check);
  if (!tensor.ok()) return tensor.status().with_context(what);
  STRIA_RETURN_IF_ERROR(check(tensor->type(), tensor->sizes()).with_context(what));
  return tensor;
}

}  // namespace

std::vector<std::string> GivenInputs::source_names() const {
  std::vector<std::string> names;
  for (const NamedSource& source : sources) names.push_back(source.name);
  return names;
}

std::vector<std::string> GivenInputs::shape_names() const {
  std::vector<std::string> names;
  for (const ShapeText& shape : shapes) names.push_back(shape.name);
  return names;
}

Result<GivenInputs> parse_inputs(const InputTexts& texts) {
  GivenInputs out;
  STRIA_ASSIGN(const std::vector<NamedValue> given,
               parse_named_values("--input", texts.inputs, true));
  for (const NamedValue& input : given) {
    auto source = parse_tensor_source(input.value);
    if (!source.ok()) return source.status().with_context("--input " + input.name);
    out.sources.push_back({input.name, std::move(*source)});
  }
  STRIA_ASSIGN(out.shapes, parse_shapes(texts.shapes));
  if (!texts.pictures.empty()) {
    auto picture = parse_picture_options(texts.pictures);
    if (!picture.ok()) return picture.status().with_context("--picture");
    bool any = false;
    for (NamedSource& input : out.sources) {
      if (!input.source.is_picture()) continue;
      input.source.picture = *picture;
      any = true;
    }
    if (!any) return invalid_argument("--picture is given, but no --input is a .png or .jpg");
  }
  out.folder = texts.folder;
  return out;
}

std::vector<NamedFile> files_of(const GivenInputs& given) {
  std::vector<NamedFile> files;
  for (const NamedSource& input : given.sources)
    if (!input.source.path.empty()) files.push_back({"--input " + input.name, input.source.path});
  return files;
}

Outcome check_run_files(const std::string& program, const GivenInputs& given,
                        const std::vector<NamedValue>& outputs, const std::string& labels) {
  std::vector<NamedFile> read = files_of(given), written;
  read.push_back({"PROG", program});
  if (!labels.empty()) read.push_back({"--labels", labels});
  for (const NamedValue& output : outputs) {
    STRIA_FAIL_IF_ERROR(ExitCode::usage, check_tensor_path(output.value).with_context("--output"));
    written.push_back({"--output " + output.name, output.value});
  }
  return check_files_differ(written, read);
}

void add_sources_of_folder(const std::vector<std::string>& names, GivenInputs& given) {
  if (given.folder.empty()) return;
  const std::vector<std::string> known = given.source_names();
  for (const std::string& name : names) {
    // A name with a path in it is no file of the folder.
    if (name.find('/') != std::string::npos ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    TensorSource source;
    source.path = (std::filesystem::path(given.folder) / (name + ".npy")).string();
    std::error_code ignored;
    if (std::filesystem::exists(source.path, ignored)) given.sources.push_back({name, source});
  }
}

Outcome check_input_folder(const GivenInputs& given) {
  std::error_code ignored;
  if (!given.folder.empty() && !std::filesystem::is_directory(given.folder, ignored))
    return Outcome(ExitCode::program,
                   not_found("--input-dir: there is no folder '{}'", shown_name(given.folder)));
  return Outcome();
}

Outcome read_program(const std::string& path, const std::string& function, GivenInputs& given,
                     Wanted wanted, Program& program, ReadInputs& in, const DeviceOpener& open) {
  STRIA_FAIL_IF(check_input_folder(given));
  if (is_onnx(path) && function.empty()) return read_onnx(path, given, wanted, program, in, open);
  STRIA_OR_FAIL(program, ExitCode::program, Program::read(path, function));
  std::vector<std::string> names;
  for (const ProgramInput& input : program.inputs()) names.push_back(input.name);
  add_sources_of_folder(names, given);
  return Outcome();
}

InputTypes types_of_shapes(const Program& program, const GivenInputs& given) {
  InputTypes types;
  for (const ProgramInput& input : program.inputs())
    if (const ShapeText* shape = shape_of(given.shapes, input.name))
      types[input.name] = {shape->type.value_or(DataType::fp32), shape->sizes};
  return types;
}

Outcome check_input_names(const Program& program, std::string_view option,
                          const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (auto found = program.find_input(name); !found.ok())
      return Outcome(ExitCode::usage, found.status().with_context(option));
  return Outcome();
}

Outcome check_output_names(const Program& program, const std::vector<NamedValue>& outputs) {
  for (const NamedValue& output : outputs)
    if (auto found = program.find_output(output.name); !found.ok())
      return Outcome(ExitCode::usage, found.status().with_context("--output"));
  return Outcome();
}

Outcome lower(const Program& program, const InputTypes& types, const CompileOptions& how,
              Compilation& out) {
  Result<Compilation> lowered = lower_program(program, types, how);
  if (lowered.ok()) {
    out = std::move(*lowered);
    return Outcome();
  }
  if (lowered.status().code() == StatusCode::not_found)
    STRIA_FAIL_IF(
        check_input_names(program, "--const", {how.constants.begin(), how.constants.end()}));
  return Outcome(ExitCode::program, lowered.status());
}

Outcome read_inputs(const Program& program, const GivenInputs& given, ReadInputs& out) {
  for (const ProgramInput& input : program.inputs()) {
    const NamedSource* source = nullptr;
    for (const NamedSource& candidate : given.sources)
      if (candidate.name == input.name) source = &candidate;
    if (source == nullptr) {
      if (out.missing.ok())
        out.missing = invalid_argument("'{}' needs a value for its input {}: --input {}=FILE",
                                       program.name(), input.text(), input.name);
      continue;
    }
    STRIA_OR_FAIL(HostTensor tensor, ExitCode::program,
                  read_input(input, source->source, shape_of(given.shapes, input.name)));
    out.types[input.name] = {tensor.type(), tensor.sizes()};
    out.tensors.push_back(std::move(tensor));
  }
  return Outcome();
}

}  // namespace stria::command
