// SPDX-License-Identifier: Apache-2.0
// The main function: the calls that the outputs need, in order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "stria/base/status.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {
namespace {

// A name in Tile that shows the name in the graph: "In_x", of letters, digits and '_'.
std::string shown(std::string_view prefix, std::string_view name, std::set<std::string>& taken) {
  std::string out = std::string(prefix) + "_";
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.size() > 60) out.resize(60);
  std::string unique = out;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}_{}", out, n);
  return unique;
}

// A tensor of the function with the type that callers see: only a cast gives a packed one.
std::string outside(const std::string& tensor, DataType type) {
  if (!is_packed(type)) return tensor;
  if (is_float(type)) return fmt::format("as_{}({})", stria::name_of(type), tensor);
  return fmt::format("{}({}, {})", is_signed_integer(type) ? "as_int" : "as_uint", tensor,
                     bit_width(type));
}

// The type that a model says of an output that is this; of what has none of its own, `said`.
ElementType declared_element(const Value& value, ElementType said) {
  switch (value.kind) {
    case Value::Kind::tensor: return element_of(value);
    case Value::Kind::strings:
    case Value::Kind::chosen: return ElementType::string;
    default: return said;
  }
}

}  // namespace

Result<ValuePtr> GraphTranslator::as_tensors(const ValuePtr& value) {
  if (value->kind == Value::Kind::strings) {
    STRIA_ASSIGN(const ValuePtr numbers, numbers_of_strings(value, 0));
    return chosen_by(numbers, value->strings);
  }
  if (value->kind != Value::Kind::sequence) return value;
  auto out = std::make_shared<Value>(*value);
  for (ValuePtr& item : out->items) {
    STRIA_ASSIGN(item, as_tensors(item));
  }
  return out;
}

TranslatedOutput GraphTranslator::output(
    const std::string& name, const ValuePtr& value,
    const std::function<std::string(const std::string&, const ValuePtr&)>& result) {
  TranslatedOutput out;
  out.name = name;
  out.type = value->type;
  switch (value->kind) {
    case Value::Kind::strings:  // as_tensors() leaves none
    case Value::Kind::sequence:
    case Value::Kind::absent:
      out.is_sequence = true;
      for (const ValuePtr& item : value->items)
        out.items.push_back(output(fmt::format("{}[{}]", name, out.items.size()), item, result));
      break;
    case Value::Kind::chosen:
      out = output(name, value->items[0], result);
      out.is_text = true;
      out.texts = value->strings;
      break;
    case Value::Kind::map:
      out = output(name, value->items[0], result);
      out.keys = value->strings;
      for (const int64_t key : value->integers) out.keys.push_back(std::to_string(key));
      break;
    case Value::Kind::tensor:
      out.element = element_of(*value);
      out.type.type = *outside_type_of(out.element);
      out.tile = result(name, value);
      break;
  }
  return out;
}

Result<Translation> GraphTranslator::main_function(const Graph& graph, const Scope& scope) {
  // What the outputs need.
  std::vector<std::pair<std::string, ValuePtr>> outputs;
  std::vector<ValuePtr> open;
  for (const ValueInfo& info : graph.outputs) {
    const ValuePtr* value = scope.find(info.name);
    if (!value || !*value) return invalid_argument("nothing makes the output '{}'", info.name);
    const ElementType is = declared_element(**value, info.type.type);
    if (info.type.kind == ValueType::Kind::tensor && info.type.type != ElementType::undefined &&
        info.type.type != is)
      return invalid_argument("the output '{}' has elements of type {}, the model says {}",
                              info.name, name_of(is), name_of(info.type.type));
    STRIA_ASSIGN(ValuePtr tensors, as_tensors(*value));
    outputs.emplace_back(info.name, tensors);
    open.push_back(std::move(tensors));
  }
  std::set<const Call*> needed;
  for (size_t at = 0; at < open.size(); ++at) {
    const ValuePtr value = open[at];
    open.insert(open.end(), value->items.begin(), value->items.end());
    if (value->kind != Value::Kind::tensor) continue;
    if (!value->elements && value->made_by) needed.insert(value->made_by.get());
  }
  for (auto at = calls_.rbegin(); at != calls_.rend(); ++at) {
    if (!needed.contains(at->get())) continue;
    for (const ValuePtr& argument : (*at)->arguments)
      if (!argument->elements && argument->made_by) needed.insert(argument->made_by.get());
  }

  Translation out;
  std::set<std::string> taken;
  std::vector<std::string> parameters, statements, names;
  for (const ValuePtr& input : inputs_) {
    input->tile = shown("In", input->name, taken);
    parameters.push_back(input->tile);
    const ElementType element = element_of(*input);
    out.inputs.push_back(
        {input->name, input->tile, {*outside_type_of(element), input->type.sizes}, element});
  }
  std::map<const HostTensor*, std::string> constants;
  std::map<const Call*, std::vector<std::string>> results_of;
  std::map<std::string, const std::string*> used;
  const auto name_of_argument = [&](const ValuePtr& value) -> std::string {
    if (value->elements) {
      std::string& name = constants[value->elements.get()];
      if (name.empty()) {
        name = shown("C", value->name, taken);
        parameters.push_back(name);
        out.constants.push_back({value->name, name, value->elements});
      }
      return name;
    }
    if (value->made_by) return results_of[value->made_by.get()][static_cast<size_t>(value->index)];
    return value->tile;
  };
  for (const std::shared_ptr<const Call>& call : calls_) {
    if (!needed.contains(call.get())) continue;
    std::vector<std::string> arguments, made;
    for (const ValuePtr& argument : call->arguments)
      arguments.push_back(name_of_argument(argument));
    for (size_t k = 0; k < call->results.size(); ++k)
      made.push_back(fmt::format("V{}", names.size() + k + 1));
    out.nodes[made.front()] = call->node;
    names.insert(names.end(), made.begin(), made.end());
    results_of[call.get()] = made;
    used[call->function] = &text_of_[call->function];
    const std::string called = fmt::format("{}({});", call->function, fmt::join(arguments, ", "));
    statements.push_back(made.size() == 1
                             ? fmt::format("{} = {}", made[0], called)
                             : fmt::format("({}) = {}", fmt::join(made, ", "), called));
  }
  // Two outputs of the graph may be one value, and an output may be an input.
  std::vector<std::string> result_names;
  const auto result = [&](const std::string& name, const ValuePtr& value) {
    result_names.push_back(shown("Out", name, taken));
    const DataType type = *outside_type_of(element_of(*value));
    statements.push_back(
        fmt::format("{} = {};", result_names.back(), outside(name_of_argument(value), type)));
    if (value->made_by) out.nodes[result_names.back()] = value->made_by->node;
    return result_names.back();
  };
  for (const auto& [name, value] : outputs) out.outputs.push_back(output(name, value, result));
  if (result_names.empty()) return out;
  for (const auto& [name, text] : texts_)
    if (used.contains(name)) out.text += text + "\n";
  out.text += fmt::format("function {}({}) -> ({}) {{\n", out.function, fmt::join(parameters, ", "),
                          fmt::join(result_names, ", "));
  for (const std::string& statement : statements) out.text += "  " + statement + "\n";
  out.text += "}\n";
  return out;
}

Result<Translation> translate(const Model& model, const TranslateOptions& options,
                              Missing* missing) {
  Missing found;
  GraphTranslator translator(model, options, found);
  auto out = translator.translate();
  if (missing) *missing = std::move(found);
  return out;
}

}  // namespace stria::onnx
