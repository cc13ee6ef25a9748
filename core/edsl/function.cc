// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/function.h"

#include <algorithm>
#include <unordered_set>

#include "stria/edsl/function_maker.h"
#include "stria/edsl/node.h"
#include "stria/runtime/inside.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria::edsl {
namespace {

using StatePtr = std::shared_ptr<const FunctionState>;

// The function and all that it calls, each behind those it calls itself.
std::vector<StatePtr> with_callees(const StatePtr& state) {
  std::vector<StatePtr> out = {state};
  std::unordered_set<const FunctionState*> seen = {state.get()};
  for (size_t i = 0; i < out.size(); ++i) {
    const StatePtr caller = out[i];
    for (const StatePtr& callee : caller->callees)
      if (seen.insert(callee.get()).second) out.push_back(callee);
  }
  std::sort(out.begin(), out.end(),
            [](const StatePtr& a, const StatePtr& b) { return a->order < b->order; });
  return out;
}

}  // namespace

Input::Input(const Tensor& tensor) : node_(or_failed(Inside::node(tensor))) {}
Input::Input(const Dim& dim) : node_(Inside::node(dim)) {}

// For a handle that was moved from.
const StatePtr& no_function() {
  static const StatePtr none = [] {
    auto state = std::make_shared<FunctionState>();
    state->status = invalid_argument("a Function that was moved from is used");
    state->function.name.text = "moved";
    return state;
  }();
  return none;
}

Function::Function(StatePtr state) : state_(std::move(state)) {}
Status Function::status() const { return Inside::state(*this)->status; }

std::vector<Tensor> Function::call(const std::vector<Tensor>& arguments, size_t results) const {
  const StatePtr& state = Inside::state(*this);
  const size_t gives = state->function.results.size();
  const std::string& name = state->function.name.text;
  auto node = std::make_shared<Node>(Node::Kind::call, nodes_of(arguments));
  node->function = name;
  node->callee = state;
  node->has_tensor = true;
  if (name.empty())
    node->fail(
        invalid_argument("a function without a name is called: give it one where it is made"));
  if (state->status.ok() && gives != results)
    node->fail(invalid_argument(
        "'{}' gives {} result{}, but its call takes {}: {}", name, gives, gives == 1 ? "" : "s",
        results,
        gives == 1 ? fmt::format("write {}(…)", name)
                   : fmt::format("write auto [A, …] = {}.results<{}>(…)", name, gives)));
  if (results == 1) return {Inside::of<Tensor>(std::move(node))};
  std::vector<Tensor> out;
  for (size_t i = 0; i < results; ++i) {
    auto result = std::make_shared<Node>(Node::Kind::result, std::vector<NodePtr>{node});
    result->position = i;
    out.push_back(Inside::of<Tensor>(std::move(result)));
  }
  return out;
}

Function function(std::string name, const std::vector<Input>& inputs,
                  const std::vector<Tensor>& results) {
  FunctionMaker maker(std::move(name), nodes_of(inputs), nodes_of(results));
  return Inside::of<Function>(std::make_shared<const FunctionState>(maker.take()));
}

Result<Program> program(std::string name, const std::vector<Input>& inputs,
                        const std::vector<Tensor>& results) {
  return program(function(std::move(name), inputs, results));
}

Result<Program> program(const Function& function) {
  const StatePtr& entry = Inside::state(function);
  STRIA_RETURN_IF_ERROR(entry->status);
  tile::Program made;
  std::unordered_set<std::string> names;
  for (const StatePtr& state : with_callees(entry)) {
    if (!names.insert(state->function.name.text).second)
      return invalid_argument(
          "two functions that the program calls are both named '{}': make one of them with another "
          "name",
          state->function.name.text);
    made.functions.push_back(state->function);
  }
  // Through the text, so that messages about sizes and types show its lines.
  const std::string& name = entry->function.name.text;
  STRIA_ASSIGN(tile::Program read,
               tile::parse({name.empty() ? "program" : name, tile::print(made)}));
  if (!(read == made))
    return internal_error("'{}' reads back as another program:\n{}", name, tile::print(made));
  STRIA_RETURN_IF_ERROR(tile::check_program(read));
  return stria::Inside::program(std::move(read), name);
}

}  // namespace stria::edsl
