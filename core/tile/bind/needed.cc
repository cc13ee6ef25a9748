// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/needed.h"

#include <algorithm>

namespace stria::tile {
namespace {

// Calls visit(id, written) for each tensor that the statement names, as references.
template <typename Visit>
void for_each_tensor(BoundStatement& statement, Visit&& visit) {
  struct Each {
    Visit& visit;
    void operator()(BoundContraction& c) const {
      visit(c.out, true);
      for (BoundOperand& operand : c.operands) visit(operand.tensor, false);
      if (c.default_tensor) visit(*c.default_tensor, false);
    }
    void operator()(BoundElementwise& e) const {
      visit(e.out, true);
      for (BoundNode& node : e.nodes)
        if (node.kind == BoundNode::Kind::load) visit(node.tensor, false);
    }
    void operator()(BoundReshape& r) const {
      visit(r.out, true);
      visit(r.from, false);
    }
    void operator()(BoundGather& g) const {
      visit(g.out, true);
      visit(g.from, false);
      visit(g.index, false);
    }
    void operator()(BoundScatter& s) const {
      visit(s.out, true);
      visit(s.from, false);
      visit(s.index, false);
    }
    void operator()(BoundPrng& p) const {
      visit(p.state_out, true);
      visit(p.values, true);
      visit(p.state, false);
    }
  };
  std::visit(Each{visit}, statement.form);
}

}  // namespace

void remove_unneeded(BoundProgram& program) {
  std::vector<bool> needed(program.tensors.size(), false), stays(program.tensors.size(), false);
  auto mark = [](std::vector<bool>& list, TensorId id) { list[static_cast<size_t>(id)] = true; };
  for (TensorId id : program.inputs) mark(stays, id);
  for (TensorId id : program.outputs) mark(needed, id);
  std::vector<bool> kept(program.statements.size(), false);
  bool all = true;
  for (size_t i = program.statements.size(); i-- > 0;) {
    BoundStatement& statement = program.statements[i];
    bool wanted = false;
    for_each_tensor(statement, [&](TensorId id, bool written) {
      wanted = wanted || (written && needed[static_cast<size_t>(id)]);
    });
    kept[i] = wanted;
    all = all && wanted;
    if (!wanted) continue;
    for_each_tensor(statement, [&](TensorId id, bool) {
      mark(needed, id);
      mark(stays, id);
    });
  }
  if (all) return;
  std::vector<TensorId> position(program.tensors.size(), 0);
  std::vector<BoundTensor> tensors;
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    if (!stays[id]) continue;
    position[id] = static_cast<TensorId>(tensors.size());
    tensors.push_back(std::move(program.tensors[id]));
  }
  program.tensors = std::move(tensors);
  auto move = [&](TensorId& id, bool = false) { id = position[static_cast<size_t>(id)]; };
  std::vector<BoundStatement> statements;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    for_each_tensor(program.statements[i], move);
    statements.push_back(std::move(program.statements[i]));
  }
  program.statements = std::move(statements);
  for (TensorId& id : program.inputs) move(id);
  for (TensorId& id : program.outputs) move(id);
}

}  // namespace stria::tile
