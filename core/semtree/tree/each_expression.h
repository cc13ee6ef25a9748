// SPDX-License-Identifier: Apache-2.0
// The expressions of one statement of the tree.
#pragma once

#include <variant>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Calls visit(expression) on those of the statement itself, null ones too, const or not.
template <typename AnyStatement, typename Visitor>
void each_expression(AnyStatement& statement, const Visitor& visit) {
  const auto place = [&](auto& where) {
    visit(where.offset);
    visit(where.mask);
  };
  if (auto* let = std::get_if<Let>(&statement.op)) visit(let->value);
  if (auto* load = std::get_if<Load>(&statement.op)) place(load->place);
  if (auto* store = std::get_if<Store>(&statement.op)) {
    place(store->place);
    visit(store->value);
  }
  if (auto* loop = std::get_if<For>(&statement.op)) {
    visit(loop->lower);
    visit(loop->upper);
  }
  if (auto* branch = std::get_if<If>(&statement.op)) visit(branch->condition);
  if (auto* call = std::get_if<MicroKernel>(&statement.op))
    for (auto& operand : call->operands) place(operand.place);
  if (auto* prefetch = std::get_if<Prefetch>(&statement.op)) place(prefetch->place);
  const auto matrix = [&](auto& at) {
    place(at.place);
    if (at.rows) visit(at.rows);
    if (at.columns) visit(at.columns);
  };
  if (auto* load = std::get_if<MatrixLoad>(&statement.op)) matrix(load->from);
  if (auto* store = std::get_if<MatrixStore>(&statement.op)) matrix(store->to);
}

}  // namespace stria::semtree
