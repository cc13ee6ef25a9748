// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/program.h"

#include <algorithm>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/host/program_binding.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/onnx_model.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria {

struct Program::State {
  std::shared_ptr<const ProgramBinding> binding;  // null: of Tile text
  std::string name;
  std::string function;
  tile::Program tile;
  std::vector<ProgramInput> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> notes;
};

namespace {

// The derivative is asked for by the names of inputs and outputs that callers know.
Status bind_names(const Program& program, const ProgramBinding& binding,
                  tile::GradientOptions& how) {
  for (std::string& name : how.wrt) {
    std::optional<std::string> tile = binding.parameter(name);
    if (!tile) {
      std::vector<std::string> known;
      for (const auto* names : {&binding.inputs, &binding.weights})
        for (const BoundName& one : *names) known.push_back(one.name);
      return not_found("'{}' has no input and no weight '{}'{}", program.name(), shown_name(name),
                       did_you_mean(name, known));
    }
    name = *std::move(tile);
  }
  // Weights are asked for by name; integers have no derivative.
  if (how.wrt.empty())
    for (const BoundName& input : binding.inputs)
      if (const auto type = binding.types.find(input.tile);
          type == binding.types.end() || is_float(type->second.type))
        how.wrt.push_back(input.tile);
  if (!how.of.empty()) {
    STRIA_RETURN_IF_ERROR(program.find_output(how.of).status());
    how.of = binding.tile_output(how.of);
  }
  return Status();
}

// The parameters and results that the derivative has beside those of its function are named after
// what they are derivatives of: "D" and that name.
std::shared_ptr<const ProgramBinding> gradient_binding(const ProgramBinding& of,
                                                       const tile::Function& entry) {
  auto out = std::make_shared<ProgramBinding>(of);
  out->inputs.clear();
  out->outputs.clear();
  const auto shown = [&](const std::string& tile) {
    const std::string name = of.shown(tile);
    return name == tile && tile.starts_with("D") ? "D" + of.shown(tile.substr(1)) : name;
  };
  for (const tile::Parameter& parameter : entry.parameters)
    if (const std::string& tile = parameter.name.text; !of.values.contains(tile))
      out->inputs.push_back({shown(tile), tile});
  for (const tile::Name& result : entry.results)
    out->outputs.push_back({shown(result.text), result.text});
  return out;
}

}  // namespace

std::string ProgramInput::text() const {
  if (type) return name + ": " + to_string(type->type, type->sizes);
  return has_dims ? name + "[" + join(dims, ", ") + "]" : name;
}

Result<Program> Program::from_tile(SourceText source, std::string_view function) {
  STRIA_ASSIGN(tile::Program tile, tile::parse(std::move(source)));
  return Inside::program(std::move(tile), function);
}

Result<Program> Program::from_onnx(const std::filesystem::path& path, const OnnxOptions& options) {
  STRIA_ASSIGN(const OnnxModel model, OnnxModel::read(path));
  return model.program(options);
}

Result<Program> Inside::program(tile::Program tile, std::string_view function,
                                std::shared_ptr<const ProgramBinding> binding,
                                std::vector<std::string> notes) {
  auto state = std::make_shared<Program::State>();
  state->notes = std::move(notes);
  state->function = std::string(function);
  state->tile = std::move(tile);
  STRIA_ASSIGN(const tile::Function* entry, tile::entry_function(state->tile, function));
  state->name = entry->name.text.empty()
                    ? std::filesystem::path(state->tile.source.name).stem().string()
                    : entry->name.text;
  if (binding) {
    state->name = std::filesystem::path(state->tile.source.name).stem().string();
    for (const BoundName& input : binding->inputs) {
      const auto type = binding->types.find(input.tile);
      state->inputs.push_back({input.name, false, {}, std::nullopt});
      if (type != binding->types.end()) state->inputs.back().type = type->second;
    }
    for (const BoundName& output : binding->outputs) state->outputs.push_back(output.name);
  } else {
    for (const tile::Parameter& parameter : entry->parameters) {
      ProgramInput input{parameter.name.text, parameter.has_dims, {}, std::nullopt};
      for (const tile::Name& dim : parameter.dims) input.dims.push_back(dim.text);
      state->inputs.push_back(std::move(input));
    }
    for (const tile::Name& result : entry->results) state->outputs.push_back(result.text);
  }
  state->binding = std::move(binding);
  Program program;
  program.state_ = std::move(state);
  return program;
}

Result<Program> Program::gradient(const GradientOptions& options) const {
  const std::string& function = options.function.empty() ? state_->function : options.function;
  tile::GradientOptions how{function, options.wrt, options.of, options.keep_results, options.name};
  if (state_->binding) STRIA_RETURN_IF_ERROR(bind_names(*this, *state_->binding, how));
  std::vector<Diagnostic> found;
  STRIA_ASSIGN(tile::Program tile, tile::gradient(state_->tile, how, &found));
  std::vector<std::string> notes;
  for (const Diagnostic& note : found) notes.push_back(render(state_->tile.source, note));
  std::shared_ptr<const ProgramBinding> binding;
  if (state_->binding) {
    STRIA_ASSIGN(const tile::Function* entry, tile::entry_function(tile, ""));
    binding = gradient_binding(*state_->binding, *entry);
  }
  return Inside::program(std::move(tile), "", std::move(binding), std::move(notes));
}

const std::vector<std::string>& Program::notes() const { return state_->notes; }

Result<Program> Program::read(const std::filesystem::path& path, std::string_view function) {
  if (path.extension() == ".onnx") {
    if (!function.empty())
      return invalid_argument("'{}' has one graph, and no function '{}'", shown_name(path.string()),
                              shown_name(function));
    return from_onnx(path);
  }
  // What has no name of its own is taken for what most programs are.
  if (path.extension() != ".tile" && !is_stream(path))
    return unsupported(
        "'{}' is no program that this build reads: the name must end in .tile or .onnx",
        shown_name(path.string()));
  STRIA_ASSIGN(std::string text, read_file(path, kMaxTileBytes));
  return from_tile({path.string(), std::move(text)}, function);
}

const std::string& Program::name() const { return state_->name; }
const std::vector<ProgramInput>& Program::inputs() const { return state_->inputs; }
const std::vector<std::string>& Program::outputs() const { return state_->outputs; }
std::string Program::text() const { return tile::print(state_->tile); }
const tile::Program& Inside::tile(const Program& program) { return program.state_->tile; }
const std::string& Inside::function(const Program& program) { return program.state_->function; }
const std::shared_ptr<const ProgramBinding>& Inside::binding(const Program& program) {
  return program.state_->binding;
}

Result<size_t> Program::find_input(std::string_view name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs().size(); ++i) {
    if (inputs()[i].name == name) return i;
    names.push_back(inputs()[i].name);
  }
  return not_found("'{}' has no input '{}'{} (its inputs: {})", this->name(), shown_name(name),
                   did_you_mean(name, names), names.empty() ? "none" : join(names, ", "));
}

Result<size_t> Program::find_output(std::string_view name) const {
  for (size_t i = 0; i < outputs().size(); ++i)
    if (outputs()[i] == name) return i;
  return not_found("'{}' has no output '{}'{} (its outputs: {})", this->name(), shown_name(name),
                   did_you_mean(name, outputs()), join(outputs(), ", "));
}

}  // namespace stria
