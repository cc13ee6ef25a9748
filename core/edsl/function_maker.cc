// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/function_maker.h"

#include <algorithm>
#include <unordered_set>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"

namespace stria::edsl {
namespace {

using Kind = Node::Kind;

// An expression of more than this many operations, names and numbers becomes a statement: it is
// hard to read, and the parser allows 250 brackets within each other.
constexpr int kMaxTerms = 200;

// What stands in forms as it is.
bool is_form_operator(std::string_view function) {
  return function == "add" || function == "sub" || function == "mul" || function == "div" ||
         function == "neg";
}

// A step of random numbers is no value: only its name can be an argument.
bool is_step(const Node& node) { return node.kind == Kind::call && node.function == "prng_step"; }

bool gives_several(const Node& node) {
  return node.kind == Kind::call && node.callee != nullptr &&
         node.callee->function.results.size() > 1;
}

}  // namespace

FunctionMaker::FunctionMaker(std::string name, std::vector<NodePtr> inputs,
                             std::vector<NodePtr> results) {
  out_.order = next_order();
  text_ = name.empty() ? "the function" : fmt::format("'{}'", name);
  if (!name.empty() && !is_word(name))
    error(fmt::format(
        "'{}' cannot name a function: a name is a letter, then letters, digits and '_', "
        "and no word of Tile",
        name));
  if (find_builtin(name) != nullptr || find_special(name) != nullptr ||
      find_composite(name) != nullptr)
    error(fmt::format("'{}' is a builtin function: choose another name", name));
  if (results.empty()) error(fmt::format("{} has no results: list what it computes", text_));
  function_.name.text = std::move(name);
  roots_ = inputs;
  for (NodePtr& result : results) {
    // A result is assigned: what exists already gets a statement.
    const bool exists = result->kind == Kind::input || result->kind == Kind::dim;
    if (exists) result = std::make_shared<Node>(Kind::named, std::vector<NodePtr>{result});
    roots_.push_back(result);
  }
  results_ = std::move(results);
  find_inputs(inputs);
  collect();
  if (errors_.empty()) sort();
  if (errors_.empty()) {
    choose_statements();
    name_everything();
  }
  if (errors_.empty()) {
    write_header(inputs);
    for (const Node* node : nodes_)
      if (info(*node).statement) write_statement(*node);
  }
  if (!errors_.empty()) out_.status = Status(StatusCode::invalid_argument, join(errors_, "\n"));
}

void FunctionMaker::error(std::string message) {
  const bool known = std::find(errors_.begin(), errors_.end(), message) != errors_.end();
  if (!known && errors_.size() < kMaxErrors) errors_.push_back(std::move(message));
}

// ---- the graph ----

// The inputs, and the dimensions that they name, are known from here on: see check_node.
void FunctionMaker::find_inputs(const std::vector<NodePtr>& inputs) {
  std::unordered_set<const Node*> listed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = *inputs[i];
    const bool can_be = node.kind == Kind::input || node.kind == Kind::dim;
    if (!can_be && node.kind != Kind::failed)  // which collect() reports
      error(fmt::format("input {} of {} is {}: inputs are what input(…) makes, and dimensions",
                        i + 1, text_, describe(node)));
    if (!listed.insert(&node).second)
      error(fmt::format("{} stands twice among the inputs of {}: list it once", describe(node),
                        text_));
    if (!can_be) continue;
    info_[&node];
    for (const NodePtr& size : node.args) info_[size.get()];
  }
}

void FunctionMaker::collect() {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> pending;
  const auto visit = [&](const NodePtr& node) {
    if (seen.insert(node.get()).second) pending.push_back(node.get());
  };
  for (const NodePtr& root : roots_) visit(root);
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    nodes_.push_back(node);
    // The sizes of an input of another function say nothing that it does not.
    if (node->kind != Kind::input || info_.count(node) > 0) node->for_each_child(visit);
  }
  std::sort(nodes_.begin(), nodes_.end(),
            [](const Node* a, const Node* b) { return a->order < b->order; });
  for (const Node* node : nodes_) {
    check_node(*node);
    info_[node];
  }
}

void FunctionMaker::check_node(const Node& node) {
  if (!node.failure.ok()) return error(node.failure.message());
  const bool listed = info_.count(&node) > 0;
  if (node.kind == Kind::input && !listed)
    error(fmt::format(
        "{} is used but is not among the inputs of {}: list it there, or use an input of "
        "this function",
        describe(node), text_));
  if (node.kind == Kind::dim && !listed)
    error(fmt::format(
        "dimension {} is used but no input of {} has it: give it to an input(…) as a size, or "
        "list it as an input",
        node.name.empty() ? "without a name" : describe(node), text_));
  if (node.kind == Kind::output && node.contraction == nullptr)
    error(fmt::format(
        "{} has no value: it was declared with sizes, and a contraction must follow, such as "
        "C(i, j) += A(i, k) * B(k, j)",
        describe(node)));
  if (node.kind == Kind::call && node.callee != nullptr) {
    if (!node.callee->status.ok()) return error(node.callee->status.message());
    auto& callees = out_.callees;
    if (std::find(callees.begin(), callees.end(), node.callee) == callees.end())
      callees.push_back(node.callee);
  }
}

void FunctionMaker::sort() {
  std::vector<const Node*> by_time = std::move(nodes_);
  nodes_.clear();
  std::vector<const Node*> path;
  for (const Node* start : by_time) {
    path.push_back(start);
    while (!path.empty()) {
      const Node* node = path.back();
      Info& state = info(*node);
      if (state.visited) {
        path.pop_back();
      } else if (state.open) {
        state.visited = true;
        nodes_.push_back(node);
        path.pop_back();
      } else {
        state.open = true;
        const size_t begin = path.size();
        node->for_each_child([&](const NodePtr& child) {
          if (!info(child).visited) path.push_back(child.get());
        });
        // The first child first.
        std::reverse(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end());
      }
    }
  }
}

// ---- statements ----

// What a form cannot hold gets a name.
void FunctionMaker::mark_form(const NodePtr& form) {
  std::vector<const Node*> pending = {form.get()};
  std::unordered_set<const Node*> seen;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (node->kind != Kind::call || !seen.insert(node).second) continue;
    if (is_form_operator(node->function)) {
      for (const NodePtr& arg : node->args) pending.push_back(arg.get());
    } else {
      info(*node).needs_name = true;
    }
  }
}

void FunctionMaker::choose_statements() {
  for (const Node* node : nodes_) {
    node->for_each_child([&](const NodePtr& child) { ++info(child).uses; });
    if (!node->attributes.empty()) info(*node).needs_name = true;
    if (node->kind == Kind::result) {
      info(node->args[0]).needs_name = true;
      results_of_[node->args[0].get()].push_back(node);
    }
    if (node->contraction == nullptr) continue;
    for (const Node::Operand& operand : node->contraction->operands) {
      info(operand.tensor).needs_name = true;
      for (const NodePtr& form : operand.forms) mark_form(form);
    }
    for (const NodePtr& form : node->contraction->out.forms) mark_form(form);
    for (const auto& constraint : node->contraction->constraints) mark_form(constraint.first);
    if (node->contraction->default_tensor != nullptr)
      info(node->contraction->default_tensor).needs_name = true;
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    if (info(results_[i]).is_result)
      error(fmt::format(
          "{} stands twice among the results of {}: list it once, or give it a second name by "
          "named(\"Copy\", …)",
          describe(*results_[i]), text_));
    info(results_[i]).is_result = info(results_[i]).needs_name = true;
  }
  for (const Node* node : nodes_) choose_statement(*node);
}

void FunctionMaker::choose_statement(const Node& node) {
  Info& self = info(node);
  switch (node.kind) {
    case Kind::failed:
    case Kind::dim:
    case Kind::index:
    case Kind::input: return;
    case Kind::integer:
    case Kind::floating: self.statement = self.needs_name; return;
    case Kind::output: self.statement = true; return;
    case Kind::result: return;  // the call's statement makes it
    case Kind::named: {
      const NodePtr& value = node.args[0];
      Info& inner = info(value);
      const bool only_here = inner.uses == 1 && !inner.is_result && value->name.empty();
      const bool makes_itself = value->kind == Kind::output || value->kind == Kind::result;
      // The value's statement takes the name, or this one takes the value.
      if (only_here && makes_itself) self.partner = value.get();
      if (only_here && (makes_itself || value->kind == Kind::call)) inner.partner = &node;
      if (only_here && value->kind == Kind::call) inner.statement = false;
      self.statement = self.partner == nullptr;
      return;
    }
    case Kind::call: break;
  }
  int64_t terms = 1;
  bool reported = false;  // of a part of it
  for (const NodePtr& arg : node.args) {
    terms += info(arg).terms;
    reported = reported || info(arg).terms > kMaxTerms;
  }
  const bool twice = self.uses > 1 && !node.is_constant() && !node.has_index;
  const bool is_long = terms > kMaxTerms;
  self.statement = self.needs_name || twice || is_step(node) || (is_long && !node.has_index);
  if (is_long && node.has_index && !reported)
    error(fmt::format(
        "a form in {} is made of more than {} operations and names: shorten it, or name "
        "parts of it that have no index by named(…)",
        text_, kMaxTerms));
  self.terms = self.statement ? 1 : static_cast<int>(std::min<int64_t>(terms, kMaxTerms + 1));
}

// ---- names ----

void FunctionMaker::take_name(const Node& node, std::string_view what) {
  if (!is_capital_word(node.name))
    return error(fmt::format(
        "'{}' cannot name {} {}: such a name is a capital letter, then letters, digits and '_'",
        node.name, what == "input" ? "an" : "a", what));
  if (!names_.take(node.name))
    return error(fmt::format(
        "two things in {} are named '{}', one of them {} {}: use one variable for both if they "
        "are the same, or another name",
        text_, node.name, what == "input" ? "an" : "a", what));
  info(node).name = node.name;
}

std::string FunctionMaker::invented_name(const Node& node) {
  switch (node.kind) {
    case Kind::integer:
    case Kind::floating: return names_.invent("Number");
    case Kind::input: return names_.invent("X");
    case Kind::named: return names_.invent("Copy");
    case Kind::result:
      return names_.invent(node.args[0]->callee->function.results[node.position].text);
    case Kind::call: return names_.invent(camel_case(node.function));
    case Kind::output: break;
    default: return "";
  }
  switch (node.contraction->aggregation) {
    case tile::Aggregation::sum: return names_.invent("Sum");
    case tile::Aggregation::product: return names_.invent("Product");
    case tile::Aggregation::max: return names_.invent("Max");
    case tile::Aggregation::min: return names_.invent("Min");
    case tile::Aggregation::assign: return names_.invent("Moved");
  }
  return "";
}

void FunctionMaker::name_everything() {
  // The user's names first, so that invented ones make way.
  for (const NodePtr& root : roots_) {
    if (root->kind != Kind::input && root->kind != Kind::dim) continue;
    if (!root->name.empty() && info(root).name.empty())
      take_name(*root, root->kind == Kind::dim ? "dimension" : "input");
    for (const NodePtr& size : root->args)
      if (!size->name.empty() && info(size).name.empty()) take_name(*size, "dimension");
  }
  for (const Node* node : nodes_)
    if (!node->name.empty() && (node->kind == Kind::named || node->kind == Kind::output))
      take_name(*node, "tensor");
  if (!errors_.empty()) return;
  for (const NodePtr& root : roots_) {
    if (root->kind == Kind::dim && info(root).name.empty()) info(root).name = names_.invent_dim();
    if (root->kind != Kind::input) continue;
    if (info(root).name.empty()) info(root).name = invented_name(*root);
    for (const NodePtr& size : root->args)
      if (info(size).name.empty()) info(size).name = names_.invent_dim();
  }
  for (const Node* node : nodes_) {
    const Node* partner = info(*node).partner;
    if (node->kind == Kind::named && partner != nullptr) info(*partner).name = info(*node).name;
  }
  for (const Node* node : nodes_) {
    Info& self = info(*node);
    const bool has_name = self.statement ? !gives_several(*node) : node->kind == Kind::result;
    if (has_name && self.name.empty()) self.name = invented_name(*node);
    if (node->kind == Kind::named && self.partner != nullptr) self.name = info(*self.partner).name;
  }
}

// ---- syntax ----

void FunctionMaker::write_header(const std::vector<NodePtr>& inputs) {
  for (const NodePtr& node : inputs) {
    tile::Parameter parameter{name_of(node), node->has_dims, {}};
    for (const NodePtr& size : node->args) parameter.dims.push_back(name_of(size));
    function_.parameters.push_back(std::move(parameter));
  }
  for (const NodePtr& node : results_) function_.results.push_back(name_of(node));
}

void FunctionMaker::write_statement(const Node& node) {
  tile::Statement statement;
  const auto add_attributes = [&](const Node* of) {
    if (of == nullptr) return;
    statement.attributes.insert(statement.attributes.end(), of->attributes.begin(),
                                of->attributes.end());
  };
  add_attributes(&node);
  if (node.kind == Kind::output) {
    write_contraction(node, statement);
    add_attributes(info(node).partner);
  } else if (gives_several(node)) {
    write_call_of_several(node, statement);
    for (const Node* result : results_of_[&node]) {
      add_attributes(result);
      add_attributes(info(*result).partner);
    }
  } else {
    const Node& value = node.kind == Kind::named ? *node.args[0] : node;
    const bool inside = &value != &node && info(value).partner == &node;
    if (inside) add_attributes(&value);
    tile::Assignment assignment;
    assignment.targets = {{info(node).name, {}}};
    assignment.value = inside || &value == &node ? write_value(value) : write(value);
    statement.form = std::move(assignment);
  }
  function_.statements.push_back(std::move(statement));
}

void FunctionMaker::write_call_of_several(const Node& call, tile::Statement& statement) {
  tile::Assignment assignment;
  assignment.tuple = true;
  assignment.targets.resize(call.callee->function.results.size());
  for (const Node* result : results_of_[&call])
    assignment.targets[result->position] = {info(*result).name, {}};
  for (size_t i = 0; i < assignment.targets.size(); ++i)
    if (assignment.targets[i].text.empty())
      assignment.targets[i].text = names_.invent(call.callee->function.results[i].text);
  assignment.value = write_value(call);
  statement.form = std::move(assignment);
}

void FunctionMaker::name_indices(const Node::Contraction& contraction) {
  std::vector<const Node*> indices;  // in the order in which they are written
  std::unordered_set<const Node*> seen;
  const auto find = [&](const NodePtr& form) {
    std::vector<const Node*> pending = {form.get()};
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      if (!seen.insert(node).second) continue;
      if (node->kind == Kind::index) indices.push_back(node);
      if (node->kind == Kind::call)
        for (size_t i = node->args.size(); i-- > 0;) pending.push_back(node->args[i].get());
    }
  };
  for (const NodePtr& form : contraction.out.forms) find(form);
  for (const Node::Operand& operand : contraction.operands)
    for (const NodePtr& form : operand.forms) find(form);
  for (const auto& constraint : contraction.constraints) find(constraint.first);
  Names names;
  index_names_.clear();
  for (const Node* index : indices) {
    if (index->name.empty()) continue;
    if (!is_small_word(index->name))
      error(fmt::format(
          "'{}' cannot name an index: such a name is a small letter, then letters, digits and '_'",
          index->name));
    else if (!names.take(index->name))
      error(fmt::format(
          "one contraction of {} has two indices named '{}': use one variable for both if they are "
          "the same, or another name",
          text_, index->name));
    index_names_[index] = index->name;
  }
  for (const Node* index : indices)
    if (index->name.empty()) index_names_[index] = names.invent_index();
}

void FunctionMaker::write_contraction(const Node& node, tile::Statement& statement) {
  const Node::Contraction& from = *node.contraction;
  name_indices(from);
  tile::Contraction to;
  to.aggregation = from.aggregation;
  to.combination = from.combination;
  to.no_defract = from.no_defract;
  to.out = write_access(from.out, info(node).name);
  to.sizes = write_all(node.args);
  for (const Node::Operand& operand : from.operands)
    to.operands.push_back(write_access(operand, info(operand.tensor).name));
  for (const auto& [form, bound] : from.constraints) {
    tile::Constraint constraint;
    constraint.form = write(*form);
    constraint.bound = write(*bound);
    to.constraints.push_back(constraint);
  }
  if (from.default_tensor != nullptr) to.default_tensor = name_of(from.default_tensor);
  statement.form = std::move(to);
}

tile::Access FunctionMaker::write_access(const Node::Operand& operand, const std::string& name) {
  return {{name, {}}, write_all(operand.forms), {}};
}

std::vector<tile::ExprId> FunctionMaker::write_all(const std::vector<NodePtr>& nodes) {
  std::vector<tile::ExprId> out;
  for (const NodePtr& node : nodes) out.push_back(write(*node));
  return out;
}

tile::ExprId FunctionMaker::add(tile::ExprKind kind, std::string text) {
  tile::Expr expr;
  expr.kind = kind;
  expr.text = std::move(text);
  function_.exprs.push_back(std::move(expr));
  return static_cast<tile::ExprId>(function_.exprs.size() - 1);
}

// Not deeper than kMaxTerms: choose_statement saw to it.
tile::ExprId FunctionMaker::write(const Node& node) {
  if (node.kind == Kind::index) return add(tile::ExprKind::index, index_names_.at(&node));
  const Info& self = info(node);
  return self.name.empty() ? write_value(node) : add(tile::ExprKind::name, self.name);
}

tile::ExprId FunctionMaker::write_value(const Node& node) {
  if (node.kind == Kind::integer || node.kind == Kind::floating) {
    const bool integer = node.kind == Kind::integer;
    const tile::ExprId id = add(integer ? tile::ExprKind::integer : tile::ExprKind::floating, "");
    function_.exprs.back().integer = node.integer;
    function_.exprs.back().floating = node.floating;
    return id;
  }
  std::vector<tile::ExprId> args = write_all(node.args);
  const tile::ExprId id = add(tile::ExprKind::call, node.function);
  function_.exprs.back().args = std::move(args);
  return id;
}

}  // namespace stria::edsl
