// SPDX-License-Identifier: Apache-2.0
// Goes through the nodes of a graph, and keeps what names stand for and the functions made so far.
// Operators with graphs in attributes (If, Loop, Scan) go through those with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/translate/element_types.h"
#include "stria/onnx/translate/node_writer.h"
#include "stria/onnx/translate/translate.h"
#include "stria/onnx/translate/value.h"

namespace stria::onnx {

struct Operator;

// Names of a graph; those of the graphs around it are seen, too.
struct Scope {
  const Scope* around = nullptr;
  std::map<std::string, ValuePtr> values;
  const ValuePtr* find(const std::string& name) const;
};

class GraphTranslator {
 public:
  GraphTranslator(const Model& model, const TranslateOptions& options, Missing& missing);
  ~GraphTranslator();
  GraphTranslator(const GraphTranslator&) = delete;
  GraphTranslator& operator=(const GraphTranslator&) = delete;

  // The whole model.
  Result<Translation> translate();

  // The nodes of a graph inside `around`, with its inputs standing for `inputs`; the values of its
  // outputs. For If, Loop and Scan. invalid_argument unless it has `inputs.size()` inputs.
  Result<std::vector<ValuePtr>> translate_graph(const Graph& graph, const Scope& around,
                                                const std::vector<ValuePtr>& inputs);
  // A value that a function of its own computes, for operators that make or take several, as items
  // of sequences: `write` gives result 0 of a node with these inputs.
  Result<ValuePtr> compute(const std::string& operation, const std::vector<ValuePtr>& inputs,
                           const std::function<Status(NodeWriter&)>& write);
  // The scope of the node that is being translated.
  const Scope& scope() const { return *scope_; }

  // The elements of a value, computed if need be; unsupported if an input is not known.
  Result<std::shared_ptr<const HostTensor>> elements(const ValuePtr& value);
  // `element`: the type in ONNX, undefined for that of `elements`.
  ValuePtr known(std::string name, HostTensor elements,
                 ElementType element = ElementType::undefined);
  ValuePtr known(std::string name, std::shared_ptr<const HostTensor> elements,
                 ElementType element = ElementType::undefined);
  const Model& model() const { return model_; }
  const TranslateOptions& options() const { return options_; }

 private:
  friend class NodeWriter;
  // `outputs`: of the graph or function that has the nodes.
  Status translate_nodes(const std::vector<Node>& nodes, const std::vector<std::string>& outputs,
                         Scope& scope, const std::map<std::string, int64_t>& opsets);
  // `nodes`: those of its graph or function.
  Status translate_node(const Node& node, const std::vector<Node>& nodes, Scope& scope,
                        const std::map<std::string, int64_t>& opsets);
  bool check_version(const std::string& domain, int64_t version);
  static std::string why_not_made(const std::vector<Node>& nodes, const std::string& name);
  Status expand_function(const Function& function, const Node& node,
                         const std::vector<ValuePtr>& inputs, Scope& scope);
  Status finish(NodeWriter& writer, Scope& scope);
  // Nodes that only move elements, with strings among their inputs: their numbers are moved.
  bool moves_strings(const Node& node, const std::vector<ValuePtr>& inputs) const;
  Status move_strings(const Operator& found, const Node& node, std::vector<ValuePtr> inputs,
                      int64_t version, Scope& scope);
  // first, first + 1, ... for strings that are known.
  Result<ValuePtr> numbers_of_strings(const ValuePtr& strings, int64_t first);
  // Strings by their numbers; known ones if the numbers do not depend on inputs.
  Result<ValuePtr> strings_by(const ValuePtr& numbers, const std::vector<std::string>& strings);
  Result<ValuePtr> bound(const std::string& name, const KnownValue& given, const ValueType& type);
  Status add_inputs(Scope& scope);
  Status add_input(const ValueInfo& info, Scope& scope);
  Result<std::vector<int64_t>> sizes_of(const ValueInfo& info);
  Status add_initializers(const Graph& graph, Scope& scope);
  Result<Translation> main_function(const Graph& graph, const Scope& scope);
  // What callers can take: strings become their numbers.
  Result<ValuePtr> as_tensors(const ValuePtr& value);
  // `result` makes a result of the main function for a tensor, and gives its name there.
  TranslatedOutput output(
      const std::string& name, const ValuePtr& value,
      const std::function<std::string(const std::string&, const ValuePtr&)>& result);

  struct MadeFunction {
    std::string name;
    std::vector<TensorType> results;
  };
  // Computes the results of that call and of those before it, as far as they are not known.
  Status compute_results(const Call& last);
  // Asks for those results of the calls that something else reads, too. `place`: of each call.
  void want_what_others_read(const std::map<const Call*, size_t>& place,
                             std::vector<KnownCall>& calls);
  // A call of that function, and the value that a result of it is.
  Result<std::shared_ptr<const Call>> call_of(const NodeWriter& writer,
                                              const std::vector<std::string>& results);
  ValuePtr result_of(std::string name, std::shared_ptr<const Call> call, int index);
  // The function with these lines, made unless it is there already.
  Result<MadeFunction> function_of(const NodeWriter& writer,
                                   const std::vector<std::string>& results);

  const Model& model_;
  const TranslateOptions& options_;
  Missing& missing_;
  size_t told_ = 0;             // how often something was added to it, or was there already
  int64_t nodes_ = 0;           // that were translated
  int64_t looked_up_ = 0;       // names and calls, by want_what_others_read
  const Node* node_ = nullptr;  // that is translated, the innermost one
  const Scope* scope_ = nullptr;
  // Nodes that are gone through, those of inner graphs behind those of outer ones.
  struct Progress {
    const std::vector<Node>& nodes;
    const std::vector<std::string>& outputs;
    const Scope& scope;
    size_t now = 0;
  };
  std::vector<Progress> progress_;
  const std::map<std::string, int64_t>* opsets_ = nullptr;  // of the nodes that are translated
  std::vector<const Function*> functions_inside_;  // that are expanded, the innermost one last
  int depth_ = 0;                                  // of functions and graphs inside each other
  std::map<std::string, MadeFunction> functions_;  // by types of parameters and body
  std::vector<std::pair<std::string, std::string>> texts_;  // name and text, in order
  std::map<std::string, std::string> text_of_;              // by name
  std::map<std::string, int> names_taken_;
  std::vector<std::shared_ptr<const Call>> calls_;  // in an order that can run
  std::vector<ValuePtr> inputs_;                    // of the model's graph
  std::map<std::string, int64_t> dims_;             // named dimensions whose sizes are known
};

// Nodes of a function with what a call of it gives in the place of attributes that refer to it.
std::vector<Node> with_attributes(const std::vector<Node>& nodes,
                                  const std::map<std::string, Attribute>& given);

}  // namespace stria::onnx
