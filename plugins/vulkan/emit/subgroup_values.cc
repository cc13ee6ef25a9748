// SPDX-License-Identifier: Apache-2.0
#include "emit/subgroup_values.h"

#include <algorithm>

namespace stria::vulkan {

using semtree::ExprKind;
using semtree::ExprRef;
using semtree::Op;

bool is_subgroup_operation(const semtree::Statement& statement) {
  return std::holds_alternative<semtree::Instruction>(statement.op) ||
         std::holds_alternative<semtree::MatrixFill>(statement.op) ||
         std::holds_alternative<semtree::MatrixLoad>(statement.op) ||
         std::holds_alternative<semtree::MatrixStore>(statement.op) ||
         std::holds_alternative<semtree::MatrixMultiply>(statement.op) ||
         std::holds_alternative<semtree::ElementLoop>(statement.op) ||
         std::holds_alternative<semtree::SubgroupBarrier>(statement.op);
}

SubgroupValues::SubgroupValues(const semtree::Function& function, int64_t subgroup_lanes)
    : function_(function),
      subgroup_lanes_(subgroup_lanes),
      same_(function.vars.size()),
      lane_(function.vars.size()) {
  for (const semtree::Function::GridDim& dim : function.grid)
    same_[static_cast<size_t>(dim.var)] = true;
  if (function.lane_var >= 0) lane_[static_cast<size_t>(function.lane_var)] = true;
  visit(function.body, true);
}

void SubgroupValues::visit(const semtree::Body& body, bool all_come) {
  for (const semtree::Statement& statement : body) {
    if (auto* let = std::get_if<semtree::Let>(&statement.op)) {
      same_[static_cast<size_t>(let->var)] = is_same(let->value);
      lane_[static_cast<size_t>(let->var)] = is_lane(let->value);
    } else if (auto* load = std::get_if<semtree::Load>(&statement.op)) {
      same_[static_cast<size_t>(load->var)] = is_same(load->place);
    } else if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
      const bool together = is_same(loop->lower) && is_same(loop->upper);
      same_[static_cast<size_t>(loop->var)] = together;
      visit(loop->body, all_come && together);
    } else if (auto* branch = std::get_if<semtree::If>(&statement.op)) {
      visit(branch->then, all_come && is_same(branch->condition));
    } else if (is_subgroup_operation(statement)) {
      bool together = all_come;
      if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op))
        together = together && is_same(load->from.place);
      if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op))
        together = together && is_same(store->to.place);
      if (!together && !divided_) divided_ = &statement;
      if (auto* loop = std::get_if<semtree::ElementLoop>(&statement.op))
        visit(loop->body, all_come);
    }
  }
}

bool SubgroupValues::is_same(const ExprRef& expr) const {
  if (expr->kind == ExprKind::variable) return same_[static_cast<size_t>(expr->var)];
  if (expr->kind == ExprKind::operation && expr->args.size() == 2) {
    const ExprRef &a = expr->args[0], &b = expr->args[1];
    const Op op = expr->op;
    // What lanes on one side of a border share, and the number of a row of whole subgroups.
    if (is_lane(a)) {
      if ((op == Op::lt || op == Op::div || op == Op::floor_div) && is_border(b)) return true;
      if (op == Op::le && is_border(b, 1)) return true;
    }
    if (is_lane(b)) {
      if (op == Op::le && is_border(a)) return true;
      if (op == Op::lt && is_border(a, 1)) return true;
    }
  }
  return std::all_of(expr->args.begin(), expr->args.end(),
                     [this](const ExprRef& arg) { return is_same(arg); });
}

bool SubgroupValues::is_same(const semtree::Place& place) const {
  const bool is_own = !function_.is_param(place.memory) && !function_.array(place.memory).shared;
  return !is_own && (!place.offset || is_same(place.offset)) &&
         (!place.mask || is_same(place.mask));
}

bool SubgroupValues::is_lane(const ExprRef& expr) const {
  if (expr->kind == ExprKind::variable) return lane_[static_cast<size_t>(expr->var)];
  return expr->kind == ExprKind::convert && is_integer(expr->type.scalar) && is_lane(expr->args[0]);
}

bool SubgroupValues::is_border(const ExprRef& expr, int64_t plus) const {
  return expr->kind == ExprKind::constant && is_integer(expr->type.scalar) &&
         expr->value.i + plus > 0 && (expr->value.i + plus) % subgroup_lanes_ == 0;
}

}  // namespace stria::vulkan
