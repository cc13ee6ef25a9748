// SPDX-License-Identifier: Apache-2.0
#include "inputs/onnx_inputs.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "inputs/called_nodes.h"
#include "message.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/onnx_model.h"
#include "stria/tensor_io/numbers.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

const OnnxInput* find_input(const OnnxModel& model, const std::string& name) {
  for (const OnnxInput& input : model.inputs())
    if (input.name == name) return &input;
  return nullptr;
}

// For messages: what has a value in the model anyhow is only counted, if there is anything else.
std::string known_inputs(const OnnxModel& model) {
  std::vector<std::string> needed, others;
  for (const OnnxInput& input : model.inputs())
    (input.has_default ? others : needed).push_back(input.name);
  if (needed.empty()) return others.empty() ? "none" : join(others, ", ");
  return join(needed, ", ") +
         (others.empty() ? "" : fmt::format("; {} more with a value in the model", others.size()));
}

// --shape names an input or an open dimension.
Outcome add_shapes(const OnnxModel& model, const std::vector<ShapeText>& shapes,
                   OnnxOptions& options) {
  std::vector<std::string> names, dims;
  for (const OnnxInput& input : model.inputs()) {
    names.push_back(input.name);
    for (const OnnxDimension& dim : input.dims)
      if (!dim.name.empty()) dims.push_back(dim.name);
  }
  for (const ShapeText& shape : shapes) {
    if (const OnnxInput* input = find_input(model, shape.name)) {
      if (shape.type && input->type && *shape.type != *input->type)
        return Outcome(ExitCode::program,
                       invalid_argument("--shape: input '{}' has type {}, the model says {}",
                                        input->name, name_of(*shape.type), name_of(*input->type)));
      options.sizes[shape.name] = shape.sizes;
      continue;
    }
    if (std::find(dims.begin(), dims.end(), shape.name) == dims.end()) {
      std::vector<std::string> known = names;
      known.insert(known.end(), dims.begin(), dims.end());
      return Outcome(
          ExitCode::usage,
          not_found("--shape: '{}' has no input and no named dimension '{}'{} (it has: {})",
                    model.name(), shown_name(shape.name), did_you_mean(shape.name, known),
                    known.empty() ? "none" : join(known, ", ")));
    }
    if (shape.sizes.size() != 1 || shape.type)
      return Outcome(ExitCode::usage,
                     invalid_argument("--shape: the dimension '{}' takes one number: --shape {}=8",
                                      shape.name, shape.name));
    options.dims[shape.name] = shape.sizes[0];
  }
  return Outcome();
}

// The picture as the model takes it. One with a type behind its name stays as its file has it.
Result<HostTensor> read_onnx_picture(const OnnxInput& input, const TensorSource& source,
                                     const OnnxOptions& options) {
  PictureTarget target;
  target.type = *input.type;
  target.has_dims = input.has_dims;
  const auto given = options.sizes.find(input.name);
  if (given != options.sizes.end()) {
    target.has_dims = true;
    target.dims.assign(given->second.begin(), given->second.end());
  } else {
    for (const OnnxDimension& dim : input.dims) {
      const auto named = options.dims.find(dim.name);
      target.dims.push_back(dim.size || named == options.dims.end() ? dim.size : named->second);
    }
  }
  STRIA_ASSIGN(const HostTensor picture, read_picture(source));
  auto out = picture_tensor(picture, source.picture.value_or(PictureOptions()), target);
  if (!out.ok())
    return out.status().with_context(fmt::format("'{}' with --picture", shown_name(source.path)));
  return out;
}

// Texts for an input of strings. Their sizes are the model's, of which one may be open; a list of
// them if the model does not say.
Outcome take_texts(const OnnxInput& input, const TensorSource& source, OnnxOptions& options) {
  if (input.element != "string")
    return Outcome(ExitCode::program,
                   invalid_argument("input '{}' takes no text: {}", input.name, input.text()));
  OnnxTexts out;
  out.texts = source.texts;
  const auto count = static_cast<int64_t>(source.texts.size());
  const auto asked = options.sizes.find(input.name);
  std::vector<std::optional<int64_t>> dims;
  if (asked != options.sizes.end()) dims.assign(asked->second.begin(), asked->second.end());
  for (const OnnxDimension& dim : input.dims) {
    if (asked != options.sizes.end()) break;
    const auto named = options.dims.find(dim.name);
    dims.push_back(dim.size || named == options.dims.end() ? dim.size : named->second);
  }
  int64_t rest = 1;
  size_t open = 0;
  for (const std::optional<int64_t>& dim : dims) {
    if (dim && __builtin_mul_overflow(rest, *dim, &rest)) rest = 0;
    open += dim ? 0 : 1;
  }
  const bool fits = open == 0 ? rest == count : open == 1 && rest > 0 && count % rest == 0;
  const bool says = input.has_dims || asked != options.sizes.end();
  if (says && !fits)
    return Outcome(ExitCode::program, invalid_argument("input '{}': {} texts do not fit {}",
                                                       input.name, count, input.text()));
  for (const std::optional<int64_t>& dim : dims) out.sizes.push_back(dim ? *dim : count / rest);
  if (!says) out.sizes = {count};
  for (size_t d = 0; d < input.dims.size() && d < out.sizes.size(); ++d)
    if (!input.dims[d].name.empty()) options.dims.emplace(input.dims[d].name, out.sizes[d]);
  options.sizes.erase(input.name);
  options.texts[input.name] = std::move(out);
  return Outcome();
}

Outcome read_onnx_input(const OnnxInput& input, const TensorSource& source,
                        const OnnxOptions& options, HostTensor& out) {
  const std::string what = "input '" + input.name + "'";
  if (!input.type)
    return Outcome(
        ExitCode::program,
        input.element == "string"
            ? invalid_argument("{} is text: --input {}=text:hello,world", what, input.name)
            : unsupported("{} is {}: the command reads tensors and text only", what,
                          input.element));
  const auto check = [&](DataType type, const std::vector<int64_t>& read) {
    if (type != *input.type)
      return invalid_argument("'{}' is {}, the model says {}",
                              source.path.empty() ? input.name : shown_name(source.path),
                              to_string(type, read), input.text());
    const auto given = options.sizes.find(input.name);
    if (given == options.sizes.end() || given->second == read) return Status();
    return invalid_argument("'{}' is {}, but --shape says {}", shown_name(source.path),
                            to_string(type, read), to_string(type, given->second));
  };
  if (!source.is_file()) {
    const bool random = source.kind == TensorSource::Kind::random;
    std::optional<std::vector<int64_t>> sizes = sizes_of(input, options);
    if (!sizes && !random)
      sizes = sizes_of_numbers(source.numbers.size(),
                               input.has_dims ? std::optional(input.dims.size()) : std::nullopt);
    if (!sizes)
      return Outcome(
          ExitCode::program,
          invalid_argument("{} is {}, but the model leaves its sizes open: {}; give "
                           "them: --shape {}=…",
                           what, random ? "random" : "given as numbers", input.text(), input.name));
    const DataType type = source.type.value_or(*input.type);
    STRIA_FAIL_IF_ERROR(ExitCode::program, check(type, *sizes));
    STRIA_OR_FAIL(out, ExitCode::program, read_tensor(source, *sizes, type, what));
    return Outcome();
  }
  auto tensor = source.is_picture() && !source.type
                    ? read_onnx_picture(input, source, options)
                    : read_tensor(source, {}, *input.type, what, check);
  if (!tensor.ok()) return Outcome(ExitCode::program, tensor.status().with_context(what));
  out = std::move(*tensor);
  STRIA_FAIL_IF_ERROR(ExitCode::program, check(out.type(), out.sizes()).with_context(what));
  return Outcome();
}

// Of a model of which a device has run a part.
ExitCode whose_failure(const Status& status) {
  switch (status.code()) {
    case StatusCode::invalid_argument:
    case StatusCode::not_found:
    case StatusCode::out_of_range:
    case StatusCode::unsupported: return ExitCode::program;
    default: return ExitCode::device;
  }
}

}  // namespace

bool is_onnx(const std::string& path) { return std::filesystem::path(path).extension() == ".onnx"; }

std::optional<std::vector<int64_t>> sizes_of(const OnnxInput& input, const OnnxOptions& options) {
  if (const auto at = options.sizes.find(input.name); at != options.sizes.end()) return at->second;
  if (!input.has_dims) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const OnnxDimension& dim : input.dims) {
    const auto named = options.dims.find(dim.name);
    if (!dim.size && named == options.dims.end()) return std::nullopt;
    sizes.push_back(dim.size ? *dim.size : named->second);
  }
  return sizes;
}

Outcome take_onnx_inputs(const OnnxModel& model, GivenInputs& given, OnnxOptions& options,
                         OnnxTensors& tensors) {
  STRIA_FAIL_IF(add_shapes(model, given.shapes, options));
  std::vector<std::string> names;
  for (const OnnxInput& input : model.inputs()) names.push_back(input.name);
  for (const NamedSource& source : given.sources)
    if (find_input(model, source.name) == nullptr)
      return Outcome(ExitCode::usage,
                     not_found("--input: '{}' has no input '{}'{} (its inputs: {})", model.name(),
                               shown_name(source.name), did_you_mean(source.name, names),
                               known_inputs(model)));
  add_sources_of_folder(names, given);
  const std::map<std::string, int64_t> asked = options.dims;
  // Files first: what they say of named dimensions holds for the others.
  for (const bool files : {true, false})
    for (const NamedSource& source : given.sources) {
      if (source.source.is_file() != files) continue;
      const OnnxInput& input = *find_input(model, source.name);
      if (source.source.kind == TensorSource::Kind::texts) {
        STRIA_FAIL_IF(take_texts(input, source.source, options));
        continue;
      }
      auto tensor = std::make_shared<HostTensor>();
      STRIA_FAIL_IF(read_onnx_input(input, source.source, options, *tensor));
      options.sizes[input.name] = tensor->sizes();
      for (size_t d = 0; d < input.dims.size() && d < tensor->sizes().size(); ++d) {
        const std::string& name = input.dims[d].name;
        if (name.empty()) continue;
        const int64_t size = tensor->sizes()[d];
        if (const auto at = asked.find(name); at != asked.end() && at->second != size)
          return Outcome(ExitCode::program,
                         invalid_argument("input '{}': dimension {} has {} elements, but --shape "
                                          "says {}={}",
                                          input.name, d, size, shown_name(name), at->second));
        options.dims.emplace(name, size);
      }
      options.at_hand[input.name] = tensor;
      tensors[input.name] = std::move(tensor);
    }
  return Outcome();
}

Outcome read_onnx(const std::string& path, GivenInputs& given, Wanted wanted, Program& program,
                  ReadInputs& in, const DeviceOpener& open) {
  STRIA_OR_FAIL(const OnnxModel model, ExitCode::program, OnnxModel::read(path));
  OnnxOptions options;
  OnnxTensors tensors;
  STRIA_FAIL_IF(take_onnx_inputs(model, given, options, tensors));
  std::vector<std::string> missing;
  uint64_t seed = 0;
  for (const OnnxInput& input : model.inputs()) {
    ++seed;
    if (tensors.contains(input.name) || options.texts.contains(input.name) || input.has_default)
      continue;
    if (wanted == Wanted::values || input.element == "string")
      missing.push_back(fmt::format("{}: --input {}={}", input.text(), input.name,
                                    input.element == "string" ? "text:A,B" : "FILE"));
    else if (!sizes_of(input, options))
      missing.push_back(fmt::format("{}: --shape {}=…", input.text(), input.name));
    else if (wanted == Wanted::random && input.type) {
      TensorSource source;
      source.kind = TensorSource::Kind::random;
      source.seed = seed;
      auto tensor = std::make_shared<HostTensor>();
      STRIA_FAIL_IF(read_onnx_input(input, source, options, *tensor));
      tensors[input.name] = std::move(tensor);
    }
  }
  if (!missing.empty()) {
    // Whoever goes to make the inputs wants to know of what no input mends.
    const std::vector<std::string> unknown = unknown_operators(Inside::model(model));
    return Outcome(
        ExitCode::program,
        invalid_argument("'{}' needs {} for its inputs:\n  {}{}", model.name(),
                         wanted == Wanted::values ? "values" : "sizes", join(missing, "\n  "),
                         unknown.empty() ? ""
                                         : "\nand has operators that are not supported:\n  " +
                                               join(unknown, "\n  ")));
  }
  Outcome opened;
  Device device;
  if (open)
    options.open_device = [&](const Program& first) -> Result<Device> {
      STRIA_ASSIGN(const Compilation generic, lower_program(first, {}));
      opened = open(generic, device);
      STRIA_RETURN_IF_ERROR(opened.status());
      return Inside::model(device).simulated ? Device() : device;
    };
  Result<Program> made = model.program(options);
  STRIA_FAIL_IF(opened);
  STRIA_OR_FAIL(program, device.valid() ? whose_failure(made.status()) : ExitCode::program,
                std::move(made));
  options.at_hand.clear();
  for (const std::string& note : program.notes()) print_message(note);
  for (const ProgramInput& input : program.inputs()) {
    in.types[input.name] = *input.type;
    if (wanted != Wanted::sizes) in.tensors.push_back(std::move(*tensors.at(input.name)));
  }
  return Outcome();
}

}  // namespace stria::command
