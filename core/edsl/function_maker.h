// SPDX-License-Identifier: Apache-2.0
// Makes a Tile function of the graph behind some tensors: which nodes become statements, in which
// order and under which names, then their syntax, expression by expression in the parser's order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stria/edsl/names.h"
#include "stria/edsl/node.h"

namespace stria::edsl {

class FunctionMaker {
 public:
  // Does all the work. `inputs` and `results` are nodes of handles.
  FunctionMaker(std::string name, std::vector<NodePtr> inputs, std::vector<NodePtr> results);
  // The function, or a status with every mistake (up to 20), one a line.
  FunctionState take() { return std::move(out_); }

 private:
  // What is known of a node within this function.
  struct Info {
    int uses = 0;  // by other nodes, each occurrence counted
    bool is_result = false;
    bool needs_name = false;  // only a name can stand where it is used
    bool statement = false;   // it has a statement of its own
    bool visited = false;     // by sort()
    bool open = false;        // by sort(): on the way
    int terms = 1;            // operations, names and numbers it is written with where it is used
    // A named node and its value that share one statement: an output's or a call's takes the name
    // (`named` has no statement then), an expression's value stands in that of `named`.
    const Node* partner = nullptr;
    std::string name;
  };

  void error(std::string message);
  Info& info(const Node& node) { return info_.at(&node); }
  Info& info(const NodePtr& node) { return info_.at(node.get()); }

  void find_inputs(const std::vector<NodePtr>& inputs);
  // All nodes that the results are made from, into nodes_; and what is wrong with each.
  void collect();
  void check_node(const Node& node);
  // nodes_ in the order of time, but each behind those it is made from.
  void sort();
  void mark_form(const NodePtr& form);
  void choose_statements();
  void choose_statement(const Node& node);
  void name_everything();
  void take_name(const Node& node, std::string_view what);
  std::string invented_name(const Node& node);

  void write_header(const std::vector<NodePtr>& inputs);
  void write_statement(const Node& node);
  void write_contraction(const Node& node, tile::Statement& statement);
  void write_call_of_several(const Node& call, tile::Statement& statement);
  tile::Access write_access(const Node::Operand& operand, const std::string& name);
  std::vector<tile::ExprId> write_all(const std::vector<NodePtr>& nodes);
  tile::ExprId write(const Node& node);
  tile::ExprId write_value(const Node& node);  // in full, also if it has a name
  tile::ExprId add(tile::ExprKind kind, std::string text);
  tile::Name name_of(const NodePtr& node) { return {info(node).name, {}}; }
  void name_indices(const Node::Contraction& contraction);

  FunctionState out_;
  tile::Function& function_ = out_.function;
  std::string text_;  // of the function, for messages: "'f'" or "the function"
  std::vector<std::string> errors_;
  std::vector<NodePtr> results_;
  std::vector<NodePtr> roots_;  // inputs and results
  std::unordered_map<const Node*, Info> info_;
  std::vector<const Node*> nodes_;
  std::unordered_map<const Node*, std::vector<const Node*>> results_of_;  // by the call of several
  Names names_;
  std::unordered_map<const Node*, std::string> index_names_;  // of the contraction being written
};

}  // namespace stria::edsl
