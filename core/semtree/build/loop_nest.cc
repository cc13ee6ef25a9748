// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/build/loop_nest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/variables.h"

namespace stria::semtree {
namespace {

void append_all(Body& to, Body&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The variable that a Let or a Load assigns, else -1.
int defined_by(const Statement& statement) {
  if (auto* let = std::get_if<Let>(&statement.op)) return let->var;
  if (auto* load = std::get_if<Load>(&statement.op)) return load->var;
  return -1;
}

bool uses_any(const ExprRef& expr, const std::set<int>& vars) {
  if (!expr) return false;
  if (expr->kind == ExprKind::variable) return vars.count(expr->var) > 0;
  return std::any_of(expr->args.begin(), expr->args.end(),
                     [&](const ExprRef& arg) { return uses_any(arg, vars); });
}
bool uses_any(const Statement& definition, const std::set<int>& vars) {
  if (auto* let = std::get_if<Let>(&definition.op)) return uses_any(let->value, vars);
  const Place& place = std::get<Load>(definition.op).place;
  return uses_any(place.offset, vars) || uses_any(place.mask, vars);
}

}  // namespace

std::string LoopNest::unique_name(std::string_view hint) {
  std::string base(hint.empty() ? std::string_view("v") : hint);
  for (;;) {
    int& next = taken_[base];
    std::string name = next == 0 ? base : fmt::format("{}_{}", base, next);
    ++next;
    // "x_1" may itself be a name that was asked for.
    if (name == base || !taken_.count(name)) {
      taken_[name] = std::max(taken_[name], 1);
      return name;
    }
  }
}

int LoopNest::new_variable(std::string_view hint, Type type) {
  function_.vars.push_back({unique_name(hint), type});
  return static_cast<int>(function_.vars.size()) - 1;
}

void LoopNest::bind(const std::string& name, int var, Interval range) {
  names_[name] = {variable(var, function_.vars[var].type), levels_.size() - 1};
  box_[name] = declared_box_[name] = range;
}

std::string LoopNest::define_at(size_t level, std::string_view hint, ExprRef value,
                                Interval range) {
  const int var = new_variable(hint, value->type);
  const std::string& name = function_.vars[static_cast<size_t>(var)].name;
  names_[name] = {variable(var, value->type), level};
  levels_[level].prologue.push_back({Let{var, std::move(value)}});
  box_[name] = declared_box_[name] = range;
  return name;
}

std::string LoopNest::define(std::string_view hint, ExprRef value, Interval range) {
  return define_at(levels_.size() - 1, hint, std::move(value), range);
}

std::string LoopNest::define_outside(std::string_view hint, ExprRef value, Interval range) {
  return define_at(0, hint, std::move(value), range);
}

Body LoopNest::close(const std::string& name, int var, ExprRef lower, ExprRef upper, Body body,
                     bool unroll) {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  names_.erase(name);
  box_.erase(name);
  std::set<int> inside = {var};
  for (const Statement& statement : level.prologue) inside.insert(defined_by(statement));
  const bool runs = is_constant(lower) && is_constant(upper) && lower->value.i < upper->value.i;
  Body out;
  If* outside = nullptr;
  if (turns_inside_out(body, std::move(inside), runs, out)) {
    If last = std::move(std::get<If>(body.back().op));
    body.pop_back();
    append_all(body, std::move(last.then));
    out.push_back({If{std::move(last.condition), {}, {}}});
    outside = &std::get<If>(out.back().op);
  }
  Body inner = std::move(level.prologue);
  append_all(inner, std::move(body));
  unroll = unroll && is_constant(lower) && is_constant(upper);
  For loop{var, std::move(lower), std::move(upper), std::move(inner), unroll};
  (outside ? outside->then : out).push_back({std::move(loop)});
  return out;
}

bool LoopNest::turns_inside_out(Body& body, std::set<int> inside, bool runs, Body& before) const {
  If* last = body.empty() ? nullptr : std::get_if<If>(&body.back().op);
  if (!last) return false;
  std::set<int> written;
  walk(last->then, [&](const Statement& statement) { add_written(statement, written); });
  std::vector<bool> stays;
  for (size_t i = 0; i + 1 < body.size(); ++i) {
    const int var = defined_by(body[i]);
    if (var < 0) return false;
    const Load* load = std::get_if<Load>(&body[i].op);
    // A load may move before the loop only if a point surely executes it, and the loop leaves its
    // memory as it is.
    stays.push_back(uses_any(body[i], inside) ||
                    (load && (!runs || std::any_of(written.begin(), written.end(), [&](int memory) {
                       return may_alias(memory, load->place.memory);
                     }))));
    if (stays.back()) inside.insert(var);
  }
  if (uses_any(last->condition, inside)) return false;
  Body rest;
  for (size_t i = 0; i < body.size(); ++i)
    (i < stays.size() && !stays[i] ? before : rest).push_back(std::move(body[i]));
  body = std::move(rest);
  return true;
}

bool LoopNest::may_alias(int memory, int other) const {
  if (!function_.is_param(memory) || !function_.is_param(other)) return memory == other;
  return function_.params[static_cast<size_t>(memory)].alias_group ==
         function_.params[static_cast<size_t>(other)].alias_group;
}

Body LoopNest::finish(Body body) {
  Body all = std::move(levels_[0].prologue);
  append_all(all, std::move(body));
  return all;
}

void LoopNest::measure(const Affine& form) const {
  // Adds terms one after the other: no sum on the way is larger than the sum of their sizes.
  constexpr double kLargest = std::numeric_limits<int32_t>::max();
  double reach = std::abs(static_cast<double>(form.constant()));
  for (const auto& [name, coefficient] : form.terms()) {
    const auto at = box_.find(name);
    if (at == box_.end()) {
      reach = kLargest + 1;
      break;
    }
    const double largest = std::max(std::abs(static_cast<double>(at->second.lower)),
                                    std::abs(static_cast<double>(at->second.upper)));
    reach += std::abs(static_cast<double>(coefficient)) * std::max(largest, 1.0);
  }
  fits_32_bits_ = fits_32_bits_ && reach <= kLargest;
}

ExprRef LoopNest::value(const Affine& form) const {
  measure(form);
  const DataType type = function_.index_type;
  ExprRef sum;
  const auto add = [&](const ExprRef& term) {
    sum = sum ? exact(binary(Op::add, sum, term)) : term;
  };
  const auto subtract = [&](const ExprRef& term) {
    sum = exact(binary(Op::sub, sum ? sum : integer(type, 0), term));
  };
  // The term to begin with, so that the text has no leading minus if that can be helped.
  for (const auto& [name, coefficient] : form.terms())
    if (coefficient > 0)
      add(exact(binary(Op::mul, names_.at(name).value, integer(type, coefficient))));
  if (form.constant() > 0) add(integer(type, form.constant()));
  for (const auto& [name, coefficient] : form.terms())
    if (coefficient < 0)
      subtract(exact(binary(Op::mul, names_.at(name).value, integer(type, -coefficient))));
  if (form.constant() < 0) subtract(integer(type, -form.constant()));
  return sum ? sum : integer(type, 0);
}

ExprRef LoopNest::at_least_zero(const Affine& form) const {
  // Terms with positive coefficients to the right, the others to the left: no overflow that the
  // form itself does not have, and text that reads like the constraint.
  Affine left, right;
  for (const auto& [name, coefficient] : form.terms())
    (coefficient > 0 ? right : left).add_term(name, coefficient > 0 ? coefficient : -coefficient);
  if (form.constant() > 0 && right.is_constant()) {
    right.set_constant(form.constant());
  } else {
    left.set_constant(-form.constant());
  }
  return binary(Op::le, value(left), value(right));
}

ExprRef LoopNest::offset(const Affine& form) {
  if (form.terms().empty()) return nullptr;
  measure(form);
  size_t deepest = 0;
  for (const auto& [name, coefficient] : form.terms())
    deepest = std::max(deepest, names_.at(name).level);
  Level& level = levels_[deepest];
  if (auto at = level.offsets.find(form.terms()); at != level.offsets.end()) return at->second;
  Affine outer, here;
  for (const auto& [name, coefficient] : form.terms())
    (names_.at(name).level < deepest ? outer : here).add_term(name, coefficient);
  ExprRef sum = value(here);
  if (ExprRef before = offset(outer)) sum = exact(binary(Op::add, before, sum));
  if (sum->kind != ExprKind::variable) {
    int var = new_variable("o", {function_.index_type, 1});
    level.prologue.push_back({Let{var, sum}});
    sum = variable(var, {function_.index_type, 1});
  }
  level.offsets[form.terms()] = sum;
  return sum;
}

void append(Body& body, Statement statement) {
  auto* next = std::get_if<If>(&statement.op);
  auto* last = body.empty() ? nullptr : std::get_if<If>(&body.back().op);
  if (next && last && same(next->condition, last->condition)) {
    for (Statement& inner : next->then) append(last->then, std::move(inner));
    last->kept.insert(last->kept.end(), next->kept.begin(), next->kept.end());
    return;
  }
  body.push_back(std::move(statement));
}

}  // namespace stria::semtree
