// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/peephole/load_hoisting.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stria/semtree/tree/variables.h"

namespace stria::semtree {
namespace {

class LoadHoister {
 public:
  explicit LoadHoister(Function& function) : function_(function) {}

  void run(Body& body) {
    for (Statement& statement : body) {
      if (auto* loop = std::get_if<For>(&statement.op)) run(loop->body);
      if (auto* branch = std::get_if<If>(&statement.op)) run(branch->then);
    }
    Body out;
    for (Statement& statement : body) {
      if (auto* branch = std::get_if<If>(&statement.op)) {
        const std::set<size_t> taken = early(*branch);
        Body stays;
        for (size_t i = 0; i < branch->then.size(); ++i)
          (taken.count(i) ? out : stays).push_back(std::move(branch->then[i]));
        branch->then = std::move(stays);
      }
      out.push_back(std::move(statement));
    }
    body = std::move(out);
  }

 private:
  static std::set<int> used_by(const ExprRef& value) {
    std::set<int> out;
    if (value) add_used(Statement{Let{-1, value}}, out);
    return out;
  }

  static bool holds_barrier(const Statement& statement) {
    bool found = std::holds_alternative<Barrier>(statement.op);
    const auto look = [&](const Statement& inner) {
      found = found || std::holds_alternative<Barrier>(inner.op);
    };
    if (auto* loop = std::get_if<For>(&statement.op)) walk(loop->body, look);
    if (auto* branch = std::get_if<If>(&statement.op)) walk(branch->then, look);
    return found;
  }

  // The loads of the condition's body, by position, that may come before it.
  std::set<size_t> early(const If& branch) {
    if (used_by(branch.condition).count(function_.lane_var)) return {};
    std::set<int> stored, inside;
    for (const Statement& statement : branch.then) {
      if (auto* let = std::get_if<Let>(&statement.op)) inside.insert(let->var);
      if (auto* load = std::get_if<Load>(&statement.op)) inside.insert(load->var);
    }
    walk(branch.then, [&](const Statement& statement) { add_written(statement, stored); });
    std::set<size_t> out;
    for (size_t i = 0; i < branch.then.size() && !holds_barrier(branch.then[i]); ++i) {
      auto* load = std::get_if<Load>(&branch.then[i].op);
      if (!load || std::count(branch.kept.begin(), branch.kept.end(), load->var)) continue;
      const Place& at = load->place;
      if (!at.exists || at.mask || stored.count(at.memory) || function_.is_param(at.memory) ||
          !function_.array(at.memory).shared)
        continue;
      const std::set<int> used = used_by(at.offset);
      if (std::none_of(used.begin(), used.end(), [&](int var) { return inside.count(var) > 0; }))
        out.insert(i);
    }
    return out;
  }

  Function& function_;
};

}  // namespace

void hoist_loads(Function& function) {
  if (function.group_lanes > 1) LoadHoister(function).run(function.body);
}

}  // namespace stria::semtree
