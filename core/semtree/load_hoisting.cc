// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/load_hoisting.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "stria/semtree/variables.h"

namespace stria::semtree {
namespace {

class LoadHoister {
 public:
  explicit LoadHoister(Function& function) : function_(function) {
    walk(function.body, [&](const Statement& statement) {
      if (auto* let = std::get_if<Let>(&statement.op)) values_[let->var] = let->value;
      if (auto* load = std::get_if<Load>(&statement.op)) loaded_.insert(load->var);
    });
  }

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
  // Does it depend on the lane's number, or on what is loaded?
  bool is_of_lane(int var) {
    if (var == function_.lane_var || loaded_.count(var)) return true;
    const auto value = values_.find(var);
    if (value == values_.end()) return false;  // a loop's, or a group's
    const auto [known, is_new] = of_lane_.try_emplace(var, false);
    if (!is_new) return known->second;
    const std::set<int> used = used_by(value->second);
    return of_lane_[var] =
               std::any_of(used.begin(), used.end(), [&](int other) { return is_of_lane(other); });
  }

  static std::set<int> used_by(const ExprRef& value) {
    std::set<int> out;
    if (value) add_used(Statement{Let{-1, value}}, out);
    return out;
  }

  // The loads of the condition's body, by position, that may come before it.
  std::set<size_t> early(const If& branch) {
    const std::set<int> asked = used_by(branch.condition);
    if (asked.count(function_.lane_var) ||
        std::none_of(asked.begin(), asked.end(), [&](int var) { return is_of_lane(var); }))
      return {};
    std::set<int> stored, inside;
    for (const Statement& statement : branch.then) {
      if (auto* let = std::get_if<Let>(&statement.op)) inside.insert(let->var);
      if (auto* load = std::get_if<Load>(&statement.op)) inside.insert(load->var);
    }
    walk(branch.then, [&](const Statement& statement) {
      if (auto* store = std::get_if<Store>(&statement.op)) stored.insert(store->place.memory);
    });
    std::set<size_t> out;
    for (size_t i = 0; i < branch.then.size(); ++i) {
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
  std::map<int, ExprRef> values_;
  std::set<int> loaded_;
  std::map<int, bool> of_lane_;
};

}  // namespace

void hoist_loads(Function& function) {
  if (function.group_lanes > 1) LoadHoister(function).run(function.body);
}

}  // namespace stria::semtree
