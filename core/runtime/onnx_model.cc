// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/onnx_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/onnx/model/model_reader.h"
#include "stria/onnx/translate/element_types.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/host/tile_evaluator.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/run_calls.h"
#include "stria/tile/syntax/parser.h"

namespace stria {

struct OnnxModel::State {
  onnx::Model model;
  std::string name;
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;
};

namespace {

// "float", "sequence(float)"
std::string element_text(const onnx::ValueType& type) {
  using Kind = onnx::ValueType::Kind;
  const std::string inner = type.element ? element_text(*type.element) : "";
  switch (type.kind) {
    case Kind::tensor: return onnx::name_of(type.type);
    case Kind::sparse_tensor: return fmt::format("sparse_tensor({})", onnx::name_of(type.type));
    case Kind::sequence: return fmt::format("sequence({})", inner);
    case Kind::optional: return fmt::format("optional({})", inner);
    case Kind::map: return "map";
    case Kind::none: return "no type";
  }
  return "";
}

OnnxInput input_of(const onnx::ValueInfo& info) {
  OnnxInput out;
  out.name = info.name;
  out.element = element_text(info.type);
  if (info.type.kind != onnx::ValueType::Kind::tensor) return out;
  out.type = onnx::outside_type_of(info.type.type);
  out.has_dims = info.type.dims.has_value();
  if (info.type.dims)
    for (const onnx::Dimension& dim : *info.type.dims)
      out.dims.push_back({dim.size, dim.parameter});
  return out;
}

Status check_names(const OnnxModel& model, const OnnxOptions& options) {
  std::vector<std::string> inputs, dims;
  for (const OnnxInput& input : model.inputs()) {
    inputs.push_back(input.name);
    for (const OnnxDimension& dim : input.dims)
      if (!dim.name.empty()) dims.push_back(dim.name);
  }
  const auto check = [&](std::string_view what, const std::vector<std::string>& known,
                         const auto& given) {
    for (const auto& [name, value] : given)
      if (std::find(known.begin(), known.end(), name) == known.end())
        return not_found("'{}' has no {} '{}'{} (it has: {})", model.name(), what, shown_name(name),
                         did_you_mean(name, known), known.empty() ? "none" : join(known, ", "));
    return Status();
  };
  STRIA_RETURN_IF_ERROR(check("input", inputs, options.sizes));
  STRIA_RETURN_IF_ERROR(check("input", inputs, options.values));
  STRIA_RETURN_IF_ERROR(check("input", inputs, options.at_hand));
  STRIA_RETURN_IF_ERROR(check("input", inputs, options.texts));
  return check("named dimension", dims, options.dims);
}

// "0 'cat', 1 'dog'"
std::string numbered(const std::vector<std::string>& texts) {
  std::string out;
  for (size_t k = 0; k < texts.size(); ++k)
    out += fmt::format("{}{} '{}'", k ? ", " : "", k, shown_name(texts[k]));
  return out;
}

// Tensors become outputs, one for each item of a sequence. What the numbers of an output stand for
// becomes a note.
void add_output(const onnx::TranslatedOutput& output, ProgramBinding& binding,
                std::vector<std::string>& notes) {
  if (output.is_sequence) {
    if (output.items.empty())
      notes.push_back(fmt::format("the output '{}' is known: it holds nothing", output.name));
    for (const onnx::TranslatedOutput& item : output.items) add_output(item, binding, notes);
  } else {
    binding.outputs.push_back({output.name, output.tile});
    if (output.is_text)
      notes.push_back(fmt::format("the output '{}' is text, by number: {}", output.name,
                                  output.texts.empty() ? "none" : numbered(output.texts)));
    if (!output.keys.empty())
      notes.push_back(fmt::format("the output '{}' is a map: the keys of its columns are {}",
                                  output.name, numbered(output.keys)));
  }
}

}  // namespace

std::string OnnxInput::text() const {
  std::vector<std::string> sizes;
  for (const OnnxDimension& dim : dims)
    sizes.push_back(dim.size ? std::to_string(*dim.size) : dim.name.empty() ? "?" : dim.name);
  return fmt::format("{}: {}{}", name, type ? std::string(name_of(*type)) : element,
                     has_dims ? fmt::format("[{}]", fmt::join(sizes, ", ")) : "");
}

Result<OnnxModel> OnnxModel::read(const std::filesystem::path& path) {
  auto state = std::make_shared<State>();
  STRIA_ASSIGN(state->model, onnx::read_model(path));
  state->name = path.stem().string();
  const auto defaults = onnx::initializer_bytes(state->model.graph);
  for (const onnx::ValueInfo& info : state->model.graph.inputs) {
    state->inputs.push_back(input_of(info));
    state->inputs.back().has_default = defaults.contains(info.name);
  }
  for (const onnx::ValueInfo& info : state->model.graph.outputs)
    state->outputs.push_back(info.name);
  OnnxModel out;
  out.state_ = std::move(state);
  return out;
}

const std::string& OnnxModel::name() const { return state_->name; }
const std::vector<OnnxInput>& OnnxModel::inputs() const { return state_->inputs; }
const std::vector<std::string>& OnnxModel::outputs() const { return state_->outputs; }

Result<Program> OnnxModel::program(const OnnxOptions& options) const {
  STRIA_RETURN_IF_ERROR(check_names(*this, options));
  std::vector<std::string> notes;
  STRIA_ASSIGN(onnx::Translation made, Inside::translate(state_->model, options, &notes));
  auto binding = std::make_shared<ProgramBinding>();
  for (const onnx::TranslatedInput& input : made.inputs) {
    binding->inputs.push_back({input.name, input.tile});
    binding->types[input.tile] = input.type;
  }
  for (const onnx::TranslatedConstant& constant : made.constants) {
    binding->weights.push_back({constant.name, constant.tile});
    binding->types[constant.tile] = {constant.elements->type(), constant.elements->sizes()};
    binding->values[constant.tile] = constant.elements;
  }
  binding->nodes = std::move(made.nodes);
  for (const onnx::TranslatedOutput& output : made.outputs) add_output(output, *binding, notes);
  if (binding->outputs.empty())
    return unsupported("'{}' has no output that is a tensor{}{}", name(), notes.empty() ? "" : ": ",
                       fmt::join(notes, "; "));
  STRIA_ASSIGN(tile::Program tile, tile::parse({state_->model.file, std::move(made.text)}));
  return Inside::program(std::move(tile), made.function, std::move(binding), std::move(notes));
}

Result<onnx::Translation> Inside::translate(const onnx::Model& model, const OnnxOptions& options,
                                            std::vector<std::string>* notes) {
  // What the host computes and the device does not is told, if it is more than sizes take.
  constexpr double kToldFrom = 1e6;
  std::vector<std::string> decide;
  std::string device;              // that computed something
  std::vector<std::string> lacks;  // why one could not
  TileEvaluator::OnDevice on_device;
  if (options.open_device)
    on_device = [&](const std::vector<onnx::KnownCall>& calls)
        -> Result<std::optional<onnx::KnownResults>> {
      STRIA_ASSIGN(const CallsProgram made, program_of_calls(calls));
      STRIA_ASSIGN(const Device open, options.open_device(made.program));
      if (!open.valid()) return std::optional<onnx::KnownResults>();
      auto results = run_calls(open, made, calls);
      if (results.status().code() == StatusCode::unsupported) {
        // What the device lacks may be needed for sizes alone: the rest may well run there.
        lacks.push_back(
            fmt::format("{} could not compute what sizes depend on, so the host did: {}",
                        open.name(), results.status().message()));
        return std::optional<onnx::KnownResults>();
      }
      if (!results.ok()) return results.status().with_context(open.name());
      device = open.name();
      return std::optional(*std::move(results));
    };
  const TileEvaluator evaluate(std::move(on_device));
  onnx::TranslateOptions how;
  how.sizes = options.sizes;
  how.dims = options.dims;
  how.evaluate = evaluate;
  for (const auto& [name, value] : options.values)
    if (value) how.values[name] = value;
  for (const auto& [name, given] : options.texts) {
    onnx::KnownValue value;
    value.kind = onnx::Value::Kind::strings;
    value.strings = given.texts;
    value.sizes = given.sizes;
    how.values[name] = std::move(value);
  }
  for (const auto& [name, value] : options.at_hand)
    if (value && !how.sizes.contains(name)) how.sizes[name] = value->sizes();
  for (;;) {
    onnx::Missing missing;
    const double before = evaluate.points();
    device.clear();
    lacks.clear();
    auto out = onnx::translate(model, how, &missing);
    const double points = evaluate.points() - before;
    if (out.ok() && notes && !decide.empty() && points > kToldFrom)
      notes->push_back(fmt::format(
          "the host computed {:.1e} points of loops while the program was made{}: sizes depend on "
          "the elements of {}",
          points, device.empty() ? ", and no device did" : "", fmt::join(decide, ", ")));
    if (out.ok() && notes) notes->insert(notes->end(), lacks.begin(), lacks.end());
    if (out.ok() && notes && !device.empty())
      notes->push_back(fmt::format(
          "{} ran a program while this one was made: sizes depend on the elements of {}", device,
          decide.empty() ? "known tensors" : join(decide, ", ")));
    if (out.ok()) return out;
    bool more = false;
    for (const std::string& name : missing.inputs_by_value) {
      const auto at = options.at_hand.find(name);
      if (at == options.at_hand.end() || !at->second) continue;
      if (!how.values.emplace(name, at->second).second) continue;
      more = true;
      const std::string& by = missing.needed_by[name];
      decide.push_back(by.empty() ? fmt::format("'{}'", name) : fmt::format("'{}' ({})", name, by));
    }
    if (!more) return out;
  }
}

const onnx::Model& Inside::model(const OnnxModel& model) { return model.state_->model; }

}  // namespace stria
