// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/program.h"

#include <algorithm>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/inside.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria {

struct Program::State {
  std::string name;
  std::string function;
  tile::Program tile;
  std::vector<ProgramInput> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> notes;
};

std::string ProgramInput::text() const {
  return has_dims ? name + "[" + join(dims, ", ") + "]" : name;
}

Result<Program> Program::from_tile(SourceText source, std::string_view function) {
  STRIA_ASSIGN(tile::Program tile, tile::parse(std::move(source)));
  return Inside::program(std::move(tile), function);
}

Result<Program> Inside::program(tile::Program tile, std::string_view function) {
  auto state = std::make_shared<Program::State>();
  state->function = std::string(function);
  state->tile = std::move(tile);
  STRIA_ASSIGN(const tile::Function* entry, tile::entry_function(state->tile, function));
  state->name = entry->name.text.empty()
                    ? std::filesystem::path(state->tile.source.name).stem().string()
                    : entry->name.text;
  for (const tile::Parameter& parameter : entry->parameters) {
    ProgramInput input{parameter.name.text, parameter.has_dims, {}};
    for (const tile::Name& dim : parameter.dims) input.dims.push_back(dim.text);
    state->inputs.push_back(std::move(input));
  }
  for (const tile::Name& result : entry->results) state->outputs.push_back(result.text);
  Program program;
  program.state_ = std::move(state);
  return program;
}

Result<Program> Program::gradient(const GradientOptions& options) const {
  const std::string& function = options.function.empty() ? state_->function : options.function;
  std::vector<Diagnostic> notes;
  STRIA_ASSIGN(tile::Program tile, tile::gradient(state_->tile,
                                                  {function, options.wrt, options.of,
                                                   options.keep_results, options.name},
                                                  &notes));
  STRIA_ASSIGN(Program program, Inside::program(std::move(tile), ""));
  auto state = std::make_shared<State>(*program.state_);
  for (const Diagnostic& note : notes) state->notes.push_back(render(state_->tile.source, note));
  program.state_ = std::move(state);
  return program;
}

const std::vector<std::string>& Program::notes() const { return state_->notes; }

Result<Program> Program::read(const std::filesystem::path& path, std::string_view function) {
  // What has no name of its own is taken for what most programs are.
  if (path.extension() != ".tile" && !is_stream(path))
    return unsupported("'{}' is no program that this build reads: the name must end in .tile",
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
