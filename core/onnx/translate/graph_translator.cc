// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/graph_translator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/opsets.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::onnx {
namespace {

// Functions and graphs inside each other.
constexpr int kMostDepth = 64;
// Nodes, those of functions and rounds of loops each time anew: a few calls may stand for billions.
constexpr int64_t kMostNodes = 1000000;

std::string qualified(const Node& node) {
  return (node.domain.empty() ? "ai.onnx" : node.domain) + "." + node.op_type;
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// A function's name in Tile: letters and digits of the operator's name, small.
std::string function_name(std::string_view op_type) {
  std::string out;
  for (const char c : op_type)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "op" + out;
  return out;
}

std::string type_text(const TensorType& type) {
  return fmt::format("{}[{}]", name_of(type.type), fmt::join(type.sizes, ","));
}

void add_names(std::vector<std::string>& to, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
}

// Whether the operator has all that the node gives and takes.
Status check_counts(const Node& node, const StandardOperator& standard) {
  const auto check = [&](const std::vector<std::string>& names, size_t most,
                         std::string_view what) {
    size_t count = names.size();
    while (count > 0 && names[count - 1].empty()) --count;  // left out
    if (count <= most) return Status();
    return invalid_argument("{}: {} {}s, the operator has {} at most", text_of(node), count, what,
                            most);
  };
  STRIA_RETURN_IF_ERROR(check(node.inputs, standard.inputs, "input"));
  return check(node.outputs, standard.outputs, "output");
}

// Gives the names that a node reads of its graph, and maybe more: those that its own graphs read.
void for_each_name_read(const Node& node, const std::function<void(const std::string&)>& use) {
  for (const std::string& name : node.inputs) use(name);
  const auto in_graph = [&](const Graph& graph) {
    for (const Node& inner : graph.nodes) for_each_name_read(inner, use);
    for (const ValueInfo& output : graph.outputs) use(output.name);
  };
  for (const Attribute& attribute : node.attributes) {
    if (attribute.g) in_graph(*attribute.g);
    for (const auto& graph : attribute.graphs) in_graph(*graph);
  }
}

std::vector<std::string> names_of(const std::vector<ValueInfo>& infos) {
  std::vector<std::string> out;
  for (const ValueInfo& info : infos) out.push_back(info.name);
  return out;
}

// Null: not known yet.
std::shared_ptr<const HostTensor> known_result(const Value& value) {
  if (value.elements || !value.made_by) return value.elements;
  const auto& of = value.made_by->elements;
  return of.empty() ? nullptr : of[static_cast<size_t>(value.index)];
}

}  // namespace

const ValuePtr* Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope; scope = scope->around)
    if (const auto at = scope->values.find(name); at != scope->values.end()) return &at->second;
  return nullptr;
}

GraphTranslator::GraphTranslator(const Model& model, const TranslateOptions& options,
                                 Missing& missing)
    : model_(model), options_(options), missing_(missing) {}

GraphTranslator::~GraphTranslator() {
  // Each call holds those before it: the last one goes first, so that none takes others with it.
  while (!calls_.empty()) calls_.pop_back();
}

ValuePtr GraphTranslator::known(std::string name, std::shared_ptr<const HostTensor> elements,
                                ElementType element) {
  auto value = std::make_shared<Value>();
  value->name = std::move(name);
  value->type = {elements->type(), elements->sizes()};
  value->element = element;
  value->elements = std::move(elements);
  return value;
}

ValuePtr GraphTranslator::known(std::string name, HostTensor elements, ElementType element) {
  return known(std::move(name), std::make_shared<const HostTensor>(std::move(elements)), element);
}

Result<std::shared_ptr<const HostTensor>> GraphTranslator::elements(const ValuePtr& value) {
  if (value->elements) return value->elements;
  if (!value->depends_on.empty() || !value->made_by) {
    add_names(missing_.inputs_by_value, value->depends_on);
    for (const std::string& input : value->depends_on)
      missing_.needed_by.emplace(input, node_ ? text_of(*node_) : std::string());
    told_ += value->depends_on.size();
    return unsupported("the elements of '{}' must be known; they depend on the input '{}'",
                       value->name, fmt::join(value->depends_on, "', '"));
  }
  if (!known_result(*value)) STRIA_RETURN_IF_ERROR(compute_results(*value->made_by));
  value->elements = known_result(*value);
  if (!value->elements) return internal_error("'{}' was not computed", value->name);
  return value->elements;
}

Status GraphTranslator::compute_results(const Call& last) {
  std::vector<const Call*> open = {&last};
  std::map<const Call*, size_t> place;  // in `calls`
  place[&last] = 0;
  for (size_t i = 0; i < open.size(); ++i)
    for (const ValuePtr& argument : open[i]->arguments)
      if (argument->made_by && !known_result(*argument) &&
          place.emplace(argument->made_by.get(), 0).second)
        open.push_back(argument->made_by.get());
  std::vector<const Call*> needed;
  std::vector<KnownCall> calls;
  for (const std::shared_ptr<const Call>& call : calls_) {
    const auto at = place.find(call.get());
    if (at == place.end()) continue;
    at->second = calls.size();
    needed.push_back(call.get());
    KnownCall& out = calls.emplace_back();
    out.function = call->function;
    out.text = text_of_[call->function];
    out.node = call->node;
    out.wanted.assign(call->results.size(), call.get() == &last);
    for (const ValuePtr& argument : call->arguments) {
      out.parameters.push_back(fmt::format("X{}", out.parameters.size()));
      KnownCall::Argument& of = out.arguments.emplace_back();
      of.elements = known_result(*argument);
      if (of.elements) continue;
      if (!argument->made_by) return internal_error("'{}' was not computed", argument->name);
      of.call = place.at(argument->made_by.get());
      of.result = static_cast<size_t>(argument->index);
    }
  }
  want_what_others_read(place, calls);
  STRIA_ASSIGN(KnownResults results, options_.evaluate(calls));
  for (size_t c = 0; c < calls.size(); ++c) {
    needed[c]->elements.resize(needed[c]->results.size());
    for (size_t k = 0; k < results[c].size(); ++k)
      if (results[c][k]) needed[c]->elements[k] = std::move(results[c][k]);
  }
  return Status();
}

// A detector's boxes and scores come from one backbone, which is to run once.
void GraphTranslator::want_what_others_read(const std::map<const Call*, size_t>& place,
                                            std::vector<KnownCall>& calls) {
  // Elements of the largest tensor: what is less is made again sooner than found. Sizes and axes
  // are.
  constexpr double kWorthKeeping = 4096;
  // Of all calls of this together, so that no model takes the square of its nodes.
  constexpr int64_t kMostLookedUp = 10000000;
  const auto is_large = [](const TensorType& type) {
    double elements = 1;
    for (const int64_t size : type.sizes) elements *= static_cast<double>(size);
    return elements > kWorthKeeping;
  };
  const bool worth = std::any_of(place.begin(), place.end(), [&](const auto& call) {
    return std::any_of(call.first->results.begin(), call.first->results.end(), is_large) ||
           std::any_of(call.first->arguments.begin(), call.first->arguments.end(),
                       [&](const ValuePtr& argument) { return is_large(argument->type); });
  });
  if (!worth || looked_up_ > kMostLookedUp) return;
  looked_up_ += static_cast<int64_t>(calls_.size());
  const std::function<void(const Value&)> want = [&](const Value& value) {
    if (const auto at = place.find(value.made_by.get()); at != place.end())
      calls[at->second].wanted[static_cast<size_t>(value.index)] = true;
    for (const ValuePtr& item : value.items)
      if (item) want(*item);
  };
  for (const std::shared_ptr<const Call>& call : calls_)
    if (!place.contains(call.get()))
      for (const ValuePtr& argument : call->arguments) want(*argument);
  for (const Progress& of : progress_) {
    const auto read = [&](const std::string& name) {
      ++looked_up_;
      if (const ValuePtr* value = of.scope.find(name); value && *value) want(**value);
    };
    for (size_t n = of.now; n < of.nodes.size(); ++n) for_each_name_read(of.nodes[n], read);
    for (const std::string& name : of.outputs) read(name);
  }
}

Result<GraphTranslator::MadeFunction> GraphTranslator::function_of(
    const NodeWriter& writer, const std::vector<std::string>& results) {
  std::string key = writer.node_.op_type;
  std::map<std::string, TensorType> types;
  for (size_t p = 0; p < writer.parameters_.size(); ++p) {
    types[writer.parameter_names_[p]] = writer.parameters_[p]->type;
    key += " " + type_text(writer.parameters_[p]->type);
  }
  std::string body;
  for (const std::string& line : writer.lines_) body += "  " + line + "\n";
  std::vector<std::string> names;
  for (size_t k = 0; k < results.size(); ++k) {
    names.push_back(fmt::format("Y{}", k));
    body += fmt::format("  Y{} = {};\n", k, results[k]);
  }
  key += "\n" + body;
  if (const auto at = functions_.find(key); at != functions_.end()) return at->second;
  MadeFunction made;
  const std::string stem = function_name(writer.node_.op_type);
  made.name = fmt::format("{}_{}", stem, names_taken_[stem]++);
  const std::string text =
      fmt::format("function {}({}) -> ({}) {{\n{}}}\n", made.name,
                  fmt::join(writer.parameter_names_, ", "), fmt::join(names, ", "), body);
  const auto failed = [&](const Status& status) {
    return status.with_context(text_of(writer.node_) + ", as Tile");
  };
  auto parsed = tile::parse({made.name + ".tile", text});
  if (!parsed.ok()) return failed(parsed.status());
  auto bound = tile::bind_program(*parsed, made.name, types);
  if (!bound.ok()) return failed(bound.status());
  for (const tile::TensorId id : bound->outputs) {
    const tile::BoundTensor& tensor = bound->tensors[static_cast<size_t>(id)];
    made.results.push_back({tensor.type, tensor.sizes});
  }
  texts_.emplace_back(made.name, text);
  text_of_[made.name] = text;
  functions_[key] = made;
  return made;
}

Result<ValuePtr> GraphTranslator::compute(const std::string& operation,
                                          const std::vector<ValuePtr>& inputs,
                                          const std::function<Status(NodeWriter&)>& write) {
  Node node;
  node.op_type = operation;
  node.outputs = {operation};
  NodeWriter writer(*this, node, 0, inputs);
  STRIA_RETURN_IF_ERROR(write(writer));
  Scope scope;
  STRIA_RETURN_IF_ERROR(finish(writer, scope));
  return scope.values[operation];
}

Result<std::shared_ptr<const Call>> GraphTranslator::call_of(
    const NodeWriter& writer, const std::vector<std::string>& results) {
  if (writer.parameters_.empty())
    return internal_error("{}: Tile without inputs", text_of(writer.node_));
  STRIA_ASSIGN(const MadeFunction made, function_of(writer, results));
  auto call = std::make_shared<Call>();
  call->function = made.name;
  call->node = text_of(writer.node_);
  call->arguments = writer.parameters_;
  call->results = made.results;
  calls_.push_back(call);
  return std::shared_ptr<const Call>(call);
}

ValuePtr GraphTranslator::result_of(std::string name, std::shared_ptr<const Call> call, int index) {
  auto value = std::make_shared<Value>();
  value->name = std::move(name);
  value->type = call->results[static_cast<size_t>(index)];
  for (const ValuePtr& argument : call->arguments)
    add_names(value->depends_on, argument->depends_on);
  value->index = index;
  value->made_by = std::move(call);
  return value;
}

Status GraphTranslator::finish(NodeWriter& writer, Scope& scope) {
  const Node& node = writer.node_;
  std::vector<std::string> expressions;
  std::map<int, int> result_at;  // output -> result of the function
  for (const auto& [k, output] : writer.outputs_)
    if (!output.expression.empty()) {
      result_at[k] = static_cast<int>(expressions.size());
      expressions.push_back(output.expression);
    }
  std::shared_ptr<const Call> call;
  if (!expressions.empty()) {
    STRIA_ASSIGN(call, call_of(writer, expressions));
  }
  for (int k = 0; k < writer.output_count(); ++k) {
    const std::string& name = node.outputs[static_cast<size_t>(k)];
    if (name.empty()) continue;
    const auto at = writer.outputs_.find(k);
    if (at == writer.outputs_.end())
      return unsupported("{}: its output {} ('{}') is not supported", text_of(node), k, name);
    ValuePtr value;
    if (at->second.value)
      value = at->second.value;
    else if (at->second.known)
      value = known(name, std::shared_ptr<const HostTensor>(at->second.known), at->second.element);
    else {
      value = result_of(name, call, result_at[k]);
      value->element = at->second.element;
      // Operators that move elements have results of the type of what they move.
      for (const ValuePtr& input : writer.inputs_)
        if (value->element == ElementType::undefined && input &&
            input->kind == Value::Kind::tensor && input->type.type == value->type.type)
          value->element = element_of(*input);
      if (at->second.strings) {
        STRIA_ASSIGN(value, strings_by(value, *at->second.strings));
      }
    }
    if (!scope.values.emplace(name, value).second)
      return invalid_argument("{}: the name '{}' is taken", text_of(node), name);
  }
  return {};
}

Status GraphTranslator::expand_function(const Function& function, const Node& node,
                                        const std::vector<ValuePtr>& inputs, Scope& scope) {
  if (std::find(functions_inside_.begin(), functions_inside_.end(), &function) !=
      functions_inside_.end())
    return invalid_argument("{}: the function '{}' calls itself", text_of(node),
                            shown_name(function.name));
  if (depth_ >= kMostDepth)
    return invalid_argument("{}: functions are nested deeper than {}", text_of(node), kMostDepth);
  if (inputs.size() > function.inputs.size())
    return invalid_argument("{}: {} inputs, the function has {}", text_of(node), inputs.size(),
                            function.inputs.size());
  Scope inner;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    ValuePtr value = i < inputs.size() ? inputs[i] : nullptr;
    if (!value) {
      value = std::make_shared<Value>();
      value->kind = Value::Kind::absent;
    }
    inner.values[function.inputs[i]] = value;
  }
  // Attributes that refer to those of the call are replaced, in graphs of attributes, too.
  std::map<std::string, Attribute> given;
  for (const Attribute& attribute : function.attribute_protos) given[attribute.name] = attribute;
  for (const Attribute& attribute : node.attributes) given[attribute.name] = attribute;
  const std::vector<Node> nodes = with_attributes(function.nodes, given);
  std::map<std::string, int64_t> opsets = function.opsets;
  if (opsets.empty()) opsets = model_.opsets;
  ++depth_;
  functions_inside_.push_back(&function);
  const Scope* const outer = scope_;
  const auto* const outer_opsets = opsets_;
  const Status translated = translate_nodes(nodes, function.outputs, inner, opsets);
  opsets_ = outer_opsets;
  scope_ = outer;
  functions_inside_.pop_back();
  --depth_;
  if (!translated.ok()) return translated.with_context(text_of(node));
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (k >= function.outputs.size())
      return invalid_argument("{}: the function has {} outputs", text_of(node),
                              function.outputs.size());
    const ValuePtr* value = inner.find(function.outputs[k]);
    if (!value)
      return invalid_argument("{}: nothing makes its output '{}'", text_of(node),
                              function.outputs[k]);
    if (!scope.values.emplace(node.outputs[k], *value).second)
      return invalid_argument("{}: the name '{}' is taken", text_of(node), node.outputs[k]);
  }
  return {};
}

Status GraphTranslator::translate_node(const Node& node, const std::vector<Node>& nodes,
                                       Scope& scope, const std::map<std::string, int64_t>& opsets) {
  if (++nodes_ > kMostNodes)
    return make_error(StatusCode::out_of_range,
                      "{}: with what functions and loops repeat, the model has more than {} nodes",
                      text_of(node), kMostNodes);
  const std::string domain = domain_of(node.domain);
  std::vector<ValuePtr> inputs;
  bool usable = true;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    const ValuePtr* value = scope.find(name);
    if (!value)
      return invalid_argument("{}: nothing before it makes its input '{}'{}", text_of(node), name,
                              why_not_made(nodes, name));
    // What a node that is not supported makes: the nodes after it are only looked for operators.
    if (!*value) usable = false;
    inputs.push_back(*value);
  }
  const auto nothing_made = [&] {
    for (const std::string& name : node.outputs)
      if (!name.empty()) scope.values.emplace(name, nullptr);
    return Status();
  };
  for (const Function& function : model_.functions)
    if (function.name == node.op_type && domain_of(function.domain) == domain &&
        function.overload == node.overload)
      return usable ? expand_function(function, node, inputs, scope) : nothing_made();
  const auto version = opsets.find(domain);
  const Operator* const found = find_operator(domain, node.op_type);
  const StandardOperator* const standard = find_standard_operator(domain, node.op_type);
  const bool later = version != opsets.end() && standard && version->second < standard->first;
  if (version != opsets.end() && !check_version(domain, version->second)) return nothing_made();
  if (!found || version == opsets.end() || later) {
    const std::string opset =
        version == opsets.end() ? "no opset of its domain is named"
        : later ? fmt::format("opset {}, it came in {}", version->second, standard->first)
                : fmt::format("opset {}", version->second);
    add_names(missing_.operators,
              {fmt::format("{} ({}), {}", qualified(node), opset, text_of(node))});
    ++told_;
    usable = false;
  }
  if (usable && standard) STRIA_RETURN_IF_ERROR(check_counts(node, *standard));
  if (usable && moves_strings(node, inputs))
    return move_strings(*found, node, std::move(inputs), version->second, scope);
  if (!usable) return nothing_made();
  NodeWriter writer(*this, node, version->second, inputs);
  scope_ = &scope;
  STRIA_RETURN_IF_ERROR(found->translate(writer));
  return finish(writer, scope);
}

// False, and told once, if the standard has no such version of its domain. Domains of others have
// versions of their own.
bool GraphTranslator::check_version(const std::string& domain, int64_t version) {
  const int64_t newest = newest_version(domain);
  if (newest == 0 || (version >= 1 && version <= newest)) return true;
  add_names(missing_.operators,
            {fmt::format("all of opset {} of {}: versions from 1 to {} are known", version,
                         domain.empty() ? "ai.onnx" : domain, newest)});
  ++told_;
  return false;
}

// Why nothing before a node makes that name: in `nodes`, of which it is one.
std::string GraphTranslator::why_not_made(const std::vector<Node>& nodes, const std::string& name) {
  for (const Node& node : nodes)
    if (std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end())
      return fmt::format(" ({} makes it: the nodes are out of order, or a cycle)", text_of(node));
  return "";
}

Status GraphTranslator::translate_nodes(const std::vector<Node>& nodes,
                                        const std::vector<std::string>& outputs, Scope& scope,
                                        const std::map<std::string, int64_t>& opsets) {
  Status failure;  // the first one
  const Node* const around = node_;
  progress_.push_back({nodes, outputs, scope});
  for (const Node& node : nodes) {
    progress_.back().now = static_cast<size_t>(&node - nodes.data());
    opsets_ = &opsets;
    node_ = &node;
    const size_t told = told_;
    if (Status status = translate_node(node, nodes, scope, opsets); !status.ok()) {
      // All that is missing or wrong is told at once, each node of the model's graph once.
      const bool wrong = status.code() == StatusCode::invalid_argument;
      if (status.code() != StatusCode::unsupported && (depth_ > 0 || !wrong)) {
        failure = status;
        break;
      }
      if (failure.ok()) failure = status;
      if (wrong)
        missing_.mistakes.push_back(status.message());
      else if (depth_ == 0 && told == told_)
        missing_.nodes.push_back(status.message());
      for (const std::string& name : node.outputs)
        if (!name.empty()) scope.values.emplace(name, nullptr);
    }
  }
  progress_.pop_back();
  node_ = around;
  return failure;
}

Result<std::vector<ValuePtr>> GraphTranslator::translate_graph(
    const Graph& graph, const Scope& around, const std::vector<ValuePtr>& inputs) {
  if (depth_ >= kMostDepth)
    return invalid_argument("graph '{}': graphs are nested deeper than {}", graph.name, kMostDepth);
  if (inputs.size() != graph.inputs.size())
    return invalid_argument("graph '{}' has {} inputs, {} are given", graph.name,
                            graph.inputs.size(), inputs.size());
  Scope scope;
  scope.around = &around;
  for (size_t i = 0; i < inputs.size(); ++i) scope.values[graph.inputs[i].name] = inputs[i];
  STRIA_RETURN_IF_ERROR(add_initializers(graph, scope));
  ++depth_;
  const Scope* const outer = scope_;
  const auto* const opsets = opsets_ ? opsets_ : &model_.opsets;
  const Status translated = translate_nodes(graph.nodes, names_of(graph.outputs), scope, *opsets);
  opsets_ = opsets;
  scope_ = outer;
  --depth_;
  STRIA_RETURN_IF_ERROR(translated);
  std::vector<ValuePtr> outputs;
  for (const ValueInfo& output : graph.outputs) {
    const ValuePtr* value = scope.find(output.name);
    if (!value)
      return invalid_argument("graph '{}': nothing makes its output '{}'", graph.name, output.name);
    if (!*value)
      return unsupported("graph '{}': its output '{}' needs operators that are not supported",
                         graph.name, output.name);
    outputs.push_back(*value);
  }
  return outputs;
}

Result<Translation> GraphTranslator::translate() {
  Scope scope;
  STRIA_RETURN_IF_ERROR(add_inputs(scope));
  STRIA_RETURN_IF_ERROR(add_initializers(model_.graph, scope));
  const Status status =
      translate_nodes(model_.graph.nodes, names_of(model_.graph.outputs), scope, model_.opsets);
  const auto in_file = [&](const Status& of) {
    return model_.file.empty() ? of : of.with_context(shown_name(model_.file));
  };
  const bool wrong = !missing_.mistakes.empty();
  const bool is_list = status.code() == StatusCode::unsupported ||
                       (status.code() == StatusCode::invalid_argument && missing_.count() > 1);
  if (!status.ok() && !is_list) return in_file(status);
  // Operators that are missing inside a graph fail its node, too: all is told at once.
  if (const std::string text = missing_.text(); !text.empty())
    return make_error(wrong ? StatusCode::invalid_argument : StatusCode::unsupported,
                      "'{}' cannot be translated:\n{}", model_.file, text);
  if (!status.ok()) return in_file(status);
  auto out = main_function(model_.graph, scope);
  return out.ok() ? std::move(out) : Result<Translation>(in_file(out.status()));
}

size_t Missing::count() const {
  return mistakes.size() + operators.size() + nodes.size() + inputs_by_value.size();
}

std::string Missing::text() const {
  std::string out;
  const auto list = [&](std::string_view what, const std::vector<std::string>& items) {
    constexpr size_t kMost = 20;
    if (items.empty()) return;
    out += fmt::format("{}{}:", out.empty() ? "" : "\n", what);
    for (size_t i = 0; i < items.size() && i < kMost; ++i) out += "\n  " + items[i];
    if (items.size() > kMost) out += fmt::format("\n  and {} more", items.size() - kMost);
  };
  list("what is wrong", mistakes);
  list("operators that are not supported", operators);
  list("what operators do not support", nodes);
  std::vector<std::string> inputs;
  for (const std::string& name : inputs_by_value) {
    const auto at = needed_by.find(name);
    inputs.push_back(at == needed_by.end() || at->second.empty()
                         ? name
                         : fmt::format("{}, by {}", name, at->second));
  }
  list("inputs whose elements must be known: bind them by value", inputs);
  return out;
}

}  // namespace stria::onnx
