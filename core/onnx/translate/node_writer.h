// SPDX-License-Identifier: Apache-2.0
// What an operator's translation sees of a node, and how it says what the node computes: as the
// body of a Tile function with the node's inputs as parameters.
//
//   Status relu(NodeWriter& node) {
//     STRIA_ASSIGN(const std::string x, node.tensor(0));      // "X0"
//     return node.result(0, "relu(" + x + ")");
//   }
//
// Sizes are numbers: node.type(0).sizes. Where an operator needs elements of an input (axes, a
// shape), it asks for them with known() or integers(). If they cannot be known, the error names the
// inputs of the graph that have to be bound by value, and the caller may try again with them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/translate/value.h"

namespace stria::onnx {

class GraphTranslator;

class NodeWriter {
 public:
  NodeWriter(GraphTranslator& graph, const Node& node, int64_t version,
             std::vector<ValuePtr> inputs);

  const Node& node() const { return node_; }
  // The version of the node's domain that the model imports.
  int64_t version() const { return version_; }

  // Inputs. `i` may be past the end: not given.
  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const;
  const ValuePtr& value(int i) const;  // of an input that is there
  const TensorType& type(int i) const { return value(i)->type; }
  ElementType element(int i) const;  // its type in ONNX
  int rank(int i) const { return static_cast<int>(type(i).sizes.size()); }
  int64_t size(int i, int axis) const { return type(i).sizes[static_cast<size_t>(axis)]; }
  // The parameter that stands for a tensor: "X0". It makes the input a parameter of the function.
  // invalid_argument for an input that is missing or no tensor.
  Result<std::string> tensor(int i);
  // The parameter for any tensor.
  std::string parameter(const ValuePtr& value);
  // The elements of an input, computed if they depend on known ones only. unsupported, with the
  // inputs of the graph that must be bound by value, if they do not.
  Result<std::shared_ptr<const HostTensor>> known(int i);
  // Elements of an integer or bool tensor of any rank, in row-major order.
  Result<std::vector<int64_t>> integers(int i);
  // The only element of a tensor.
  Result<int64_t> integer(int i);
  Result<double> number(int i);

  // Attributes. invalid_argument if one is of another type. The defaults are for nodes without it.
  Result<int64_t> integer_attribute(std::string_view name, int64_t otherwise);
  Result<float> float_attribute(std::string_view name, float otherwise);
  Result<std::string> string_attribute(std::string_view name, std::string_view otherwise);
  Result<std::vector<int64_t>> integers_attribute(std::string_view name,
                                                  std::vector<int64_t> otherwise = {});
  Result<std::vector<float>> floats_attribute(std::string_view name);
  bool has_attribute(std::string_view name) const;
  const Attribute* find_attribute(std::string_view name) const;
  // 0 <= axis < rank of a possibly negative one. invalid_argument with the limits.
  Result<int64_t> axis(int64_t written, int64_t rank) const;

  // Statements of the function, in order.
  std::string let(const std::string& expression);  // "T1 = …;", returns "T1"
  std::string fresh();                             // a name for a statement of one's own
  void line(std::string statement);                // "Y[i : 3] = +(X0[i, j]);"
  // A parameter for elements that the translation computed: a table, a mask. They become a known
  // tensor of the program.
  std::string constant(HostTensor elements);

  // Ends the function so far, with one result, and begins another one for the same node: between
  // them stands a graph of the node that takes the result. What named statements and parameters
  // before names nothing after it, and no output may have got its result yet.
  Result<ValuePtr> stage(const std::string& expression);

  // Results. Each output that the node names must get one.
  int output_count() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int k) const;
  // `element` is the result's type in ONNX where its Tile type only holds it. Without one it is
  // that of the first input of the same Tile type, or the Tile type itself.
  Status result(int k, const std::string& expression, ElementType element = ElementType::undefined);
  // Its elements are known now.
  Status result_known(int k, HostTensor elements, ElementType element = ElementType::undefined);
  Status result_value(int k, ValuePtr value);  // an input, an item of a sequence, …
  // Strings, by an i64 expression that has their numbers: known ones if that does not depend on
  // inputs.
  Status result_chosen(int k, const std::string& numbers, std::vector<std::string> strings);
  // An error of this node: "Conv 'conv1' (model.onnx): …".
  Status error(std::string text) const;
  Status not_supported(std::string text) const;

  GraphTranslator& graph() { return graph_; }

 private:
  friend class GraphTranslator;
  struct Output {
    std::string expression;
    std::shared_ptr<HostTensor> known;
    ValuePtr value;
    ElementType element = ElementType::undefined;
    std::optional<std::vector<std::string>> strings;  // that the expression chooses from
  };
  GraphTranslator& graph_;
  const Node& node_;
  int64_t version_;
  std::vector<ValuePtr> inputs_;
  std::vector<ValuePtr> parameters_;          // in the order in which they were asked for
  std::vector<std::string> parameter_names_;  // X0, C1, …
  std::vector<std::string> lines_;
  std::map<int, Output> outputs_;
  int next_ = 0;
};

}  // namespace stria::onnx
