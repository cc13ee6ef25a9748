// SPDX-License-Identifier: Apache-2.0
// Sizes come from the translation of a model that has every value as an output. Each call in its
// main function belongs to the node whose result it makes, or else to the node that takes its own.
#include "show/model_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "inputs/called_nodes.h"
#include "inputs/onnx_inputs.h"
#include "stria/base/shown_text.h"
#include "stria/onnx/translate/element_types.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/inside.h"
#include "stria/tile/syntax/parser.h"

namespace stria::command {
namespace {

// Of tensors in attributes, and of initialisers of graphs inside the node.
int64_t bytes_inside(const onnx::Node& node) {
  size_t bytes = 0;
  const auto add_graph = [&](const onnx::Graph& graph) {
    for (const auto& [name, of_one] : initializer_bytes(graph))
      bytes += static_cast<size_t>(of_one);
  };
  visit_nodes(node, [&](const onnx::Node& each) {
    for (const onnx::Attribute& attribute : each.attributes) {
      if (attribute.t) bytes += attribute.t->bytes.size();
      if (attribute.sparse)
        bytes += attribute.sparse->values.bytes.size() + attribute.sparse->indices.bytes.size();
      if (attribute.g) add_graph(*attribute.g);
      for (const auto& graph : attribute.graphs) add_graph(*graph);
    }
  });
  return static_cast<int64_t>(bytes);
}

SummaryValue value_of(const onnx::ValueInfo& info) {
  SummaryValue out;
  out.name = info.name;
  if (info.type.kind != onnx::ValueType::Kind::tensor) return out;
  const std::optional<DataType> type = onnx::outside_type_of(info.type.type);
  out.type = type ? std::string(name_of(*type)) : onnx::name_of(info.type.type);
  out.has_dims = info.type.dims.has_value();
  if (info.type.dims)
    for (const onnx::Dimension& dim : *info.type.dims)
      out.dims.push_back({dim.size, dim.parameter});
  return out;
}

SummaryValue value_of(const onnx::TranslatedOutput& output) {
  SummaryValue out;
  out.name = output.name;
  out.type = output.is_text       ? "string"
             : output.is_sequence ? fmt::format("sequence of {}", output.items.size())
                                  : std::string(name_of(output.type.type));
  out.has_dims = !output.is_sequence;
  if (out.has_dims)
    for (const int64_t size : output.type.sizes) out.dims.push_back({size, ""});
  return out;
}

// ---- operations of nodes

// What a function of the text costs, and gives, for the types that it is called with.
struct FunctionCost {
  std::optional<double> operations;
  std::vector<TensorType> results;
};

FunctionCost cost_of(const tile::Program& program, const tile::Function& function,
                     const std::vector<TensorType>& arguments) {
  FunctionCost out;
  tile::Program alone;
  alone.source = program.source;
  alone.functions = {function};
  auto made = Inside::program(std::move(alone), "");
  if (!made.ok()) return out;
  InputTypes types;
  for (size_t i = 0; i < arguments.size() && i < function.parameters.size(); ++i)
    types[function.parameters[i].name.text] = arguments[i];
  auto lowered = lower_program(*made, types);
  if (!lowered.ok()) return out;
  out.operations = 0;
  for (const auto& [kernel, count] : kernel_operations(lowered->generic)) *out.operations += count;
  for (const size_t id : lowered->bound.outputs)
    out.results.push_back({lowered->bound.tensors[id].type, lowered->bound.tensors[id].sizes});
  return out;
}

struct ShownCall {
  std::vector<std::string> arguments, results;  // names in the main function
  std::optional<double> operations;
};

struct ShownMain {
  std::vector<ShownCall> calls;
  std::map<std::string, std::string> value_of;  // of the names that stand for others: the results
};

Result<ShownMain> read_main(const onnx::Translation& made, const std::string& file) {
  STRIA_ASSIGN(const tile::Program program, tile::parse({file, made.text}));
  std::map<std::string, const tile::Function*> functions;
  for (const tile::Function& function : program.functions)
    functions[function.name.text] = &function;
  std::map<std::string, TensorType> types;
  for (const onnx::TranslatedInput& input : made.inputs) types[input.tile] = input.type;
  for (const onnx::TranslatedConstant& constant : made.constants)
    types[constant.tile] = {constant.elements->type(), constant.elements->sizes()};
  std::map<std::string, FunctionCost> costs;  // each function has one set of types
  ShownMain out;
  const tile::Function& main = *functions.at(made.function);
  for (const tile::Statement& statement : main.statements) {
    const auto* assignment = std::get_if<tile::Assignment>(&statement.form);
    if (assignment == nullptr) return internal_error("main has a contraction");
    const tile::Expr& value = main.exprs[static_cast<size_t>(assignment->value)];
    if (value.kind == tile::ExprKind::name) {
      out.value_of[assignment->targets[0].text] = value.text;
      continue;
    }
    ShownCall call;
    std::vector<TensorType> given;
    for (const tile::ExprId argument : value.args) {
      call.arguments.push_back(main.exprs[static_cast<size_t>(argument)].text);
      given.push_back(types[call.arguments.back()]);
    }
    const auto [at, is_new] = costs.try_emplace(value.text);
    if (is_new) at->second = cost_of(program, *functions.at(value.text), given);
    call.operations = at->second.operations;
    for (size_t k = 0; k < assignment->targets.size(); ++k) {
      call.results.push_back(assignment->targets[k].text);
      if (k < at->second.results.size()) types[call.results.back()] = at->second.results[k];
    }
    out.calls.push_back(std::move(call));
  }
  return out;
}

// `tile_of`: the result of the main function for each value of the graph.
void add_operations(const ShownMain& main, const onnx::Model& model,
                    const std::map<std::string, std::string>& tile_of, ModelSummary& out) {
  std::map<std::string, size_t> maker;  // of names in the main function: the node
  for (size_t n = 0; n < model.graph.nodes.size(); ++n) {
    SummaryNode& node = out.nodes[n];
    node.operations = 0;
    bool known = !node.results.empty();
    for (const std::string& name : model.graph.nodes[n].outputs) {
      const auto tile = tile_of.find(name);
      if (tile == tile_of.end()) continue;
      const auto value = main.value_of.find(tile->second);
      if (value == main.value_of.end()) continue;
      maker.emplace(value->second, n);
      known &= value->second.starts_with("C_");
    }
    node.known = known;
  }
  out.operations = 0;
  std::map<std::string, size_t> taker;
  for (auto call = main.calls.rbegin(); call != main.calls.rend(); ++call) {
    std::optional<size_t> owner;
    for (const std::string& result : call->results) {
      if (const auto at = maker.find(result); at != maker.end()) owner = at->second;
      if (const auto at = taker.find(result); !owner && at != taker.end()) owner = at->second;
    }
    if (call->operations && out.operations) *out.operations += *call->operations;
    if (!call->operations) out.operations.reset();
    if (!owner) continue;
    for (const std::string& argument : call->arguments) taker.insert_or_assign(argument, *owner);
    std::optional<double>& operations = out.nodes[*owner].operations;
    if (!call->operations) operations.reset();
    if (operations) *operations += *call->operations;
  }
}

void add_sizes(const onnx::Model& model, const OnnxOptions& options, ModelSummary& out) {
  onnx::Model all = model;
  std::set<std::string> outputs;
  for (const onnx::ValueInfo& info : all.graph.outputs) outputs.insert(info.name);
  for (const onnx::Node& node : all.graph.nodes)
    for (const std::string& name : node.outputs)
      if (!name.empty() && outputs.insert(name).second) all.graph.outputs.push_back({name, {}});
  auto made = Inside::translate(all, options);
  if (!made.ok()) {
    out.missing = made.status().message();
    return;
  }
  std::map<std::string, SummaryValue> values;
  std::map<std::string, std::string> tile_of;
  for (const onnx::TranslatedOutput& output : made->outputs) {
    values[output.name] = value_of(output);
    tile_of[output.name] = output.tile;
  }
  const auto take = [&](SummaryValue& value) {
    if (const auto at = values.find(value.name); at != values.end()) value = at->second;
  };
  for (SummaryValue& output : out.outputs) take(output);
  for (SummaryNode& node : out.nodes)
    for (SummaryValue& result : node.results) take(result);
  if (made->text.empty()) return;
  if (auto main = read_main(*made, out.file); main.ok()) add_operations(*main, model, tile_of, out);
}

}  // namespace

std::string SummaryValue::text() const {
  if (type.empty()) return "?";
  std::vector<std::string> sizes;
  for (const OnnxDimension& dim : dims)
    sizes.push_back(dim.size ? std::to_string(*dim.size) : dim.name.empty() ? "?" : dim.name);
  return has_dims ? fmt::format("{}[{}]", type, fmt::join(sizes, ", ")) : type;
}

ModelSummary summary_of(const OnnxModel& model, const std::string& file,
                        const OnnxOptions& options) {
  const onnx::Model& from = Inside::model(model);
  ModelSummary out;
  out.file = file;
  out.ir_version = from.ir_version;
  out.producer = from.producer;
  for (const auto& [domain, version] : from.opsets)
    out.opsets[domain.empty() ? "ai.onnx" : domain] = version;
  out.inputs = model.inputs();
  const std::map<std::string, int64_t> bytes_of = initializer_bytes(from.graph);
  for (const auto& [name, bytes] : bytes_of) out.weight_bytes += bytes;
  std::map<std::string, SummaryValue> said;
  for (const auto* infos : {&from.graph.values, &from.graph.outputs})
    for (const onnx::ValueInfo& info : *infos) said[info.name] = value_of(info);
  const auto said_of = [&](const std::string& name) {
    const auto at = said.find(name);
    return at == said.end() ? SummaryValue{name, "", false, {}} : at->second;
  };
  for (const onnx::ValueInfo& info : from.graph.outputs) out.outputs.push_back(value_of(info));
  for (const onnx::Node& node : from.graph.nodes) {
    SummaryNode shown;
    shown.name = node.name;
    shown.op = qualified(node);
    shown.unknown = !is_known(from, node);
    for (const std::string& name : node.inputs)
      if (const auto at = bytes_of.find(name); at != bytes_of.end())
        shown.weight_bytes += at->second;
    const int64_t inside = bytes_inside(node);
    shown.weight_bytes += inside;
    out.weight_bytes += inside;
    for (const std::string& name : node.outputs)
      if (!name.empty()) shown.results.push_back(said_of(name));
    out.nodes.push_back(std::move(shown));
  }
  visit_called_nodes(from, [&](const onnx::Node& node) { ++out.operators[qualified(node)]; });
  out.unknown_operators = unknown_operators(from);
  for (const OnnxInput& input : out.inputs)
    if (input.type && !input.has_default && !sizes_of(input, options))
      out.open.push_back(input.text());
  if (out.open.empty()) add_sizes(from, options, out);
  return out;
}

}  // namespace stria::command
