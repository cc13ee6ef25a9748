// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

#include <algorithm>
#include <set>

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Does the statement read (`way` is `in`) or write (`out`) the refinement `name` of its block?
bool uses(const Statement& stmt, const std::string& name, RefDir way) {
  const bool reads = way == RefDir::in;
  if (auto* load = std::get_if<stripe::Load>(&stmt.op)) return reads && load->from == name;
  if (auto* store = std::get_if<stripe::Store>(&stmt.op)) return !reads && store->into == name;
  if (auto* special = stmt.special()) return has(reads ? special->inputs : special->outputs, name);
  const Block* inner = stmt.block();
  return inner && std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& ref) {
           return ref.from == name && (ref.dir == way || ref.dir == RefDir::inout);
         });
}

// Is there a statement after `dead` that stays and reads `name`, and no statement before it that
// stays and writes `name`? Statement `dead` itself does not count.
bool is_unwritten(const Block& block, const std::vector<bool>& stays, size_t dead,
                  const std::string& name) {
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    if (!stays[i] || i == dead) continue;
    if (i > dead && uses(block.stmts[i], name, RefDir::in)) return true;
    if (uses(block.stmts[i], name, RefDir::out)) return false;
  }
  return false;
}

// Is `dead` the only writer of something that a later statement, which stays, reads?
bool is_needed(const Block& block, const std::vector<bool>& stays, size_t dead) {
  const Block* writer = block.stmts[dead].block();
  return writer &&
         std::any_of(writer->refs.begin(), writer->refs.end(), [&](const Refinement& ref) {
           return is_written(ref) && is_unwritten(block, stays, dead, ref.from);
         });
}

}  // namespace

bool uses_itself(const Statement& stmt, const std::string& name) {
  return !stmt.block() && (uses(stmt, name, RefDir::in) || uses(stmt, name, RefDir::out));
}

std::string fresh_name(const std::string& base, std::set<std::string>& taken) {
  std::string name = base;
  for (int i = 0; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

StatementUsers::StatementUsers(const Block& block) {
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Statement& stmt = block.stmts[i];
    auto use = [&](const std::string& name) {
      std::vector<size_t>& users = users_[name];
      if (users.empty() || users.back() != i) users.push_back(i);
    };
    if (auto* load = std::get_if<stripe::Load>(&stmt.op)) use(load->from);
    if (auto* store = std::get_if<stripe::Store>(&stmt.op)) use(store->into);
    if (auto* special = stmt.special())
      for (const auto* list : {&special->inputs, &special->outputs})
        for (const std::string& name : *list) use(name);
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (ref.dir != RefDir::none) use(ref.from);
  }
}

const std::vector<size_t>& StatementUsers::of(const std::string& ref) const {
  static const std::vector<size_t> nobody;
  auto at = users_.find(ref);
  return at == users_.end() ? nobody : at->second;
}

std::set<std::string> needed_refinements(const Block& block, const Block* around, size_t position) {
  const StatementUsers users(block);
  std::set<std::string> needed, written;
  for (const Refinement& ref : block.refs) {
    if (users.of(ref.into).empty()) continue;
    needed.insert(ref.into);
    if (is_written(ref)) written.insert(ref.from);
  }
  if (!around) return needed;
  const std::vector<bool> all(around->stmts.size(), true);
  for (const Refinement& ref : block.refs)
    if (is_written(ref) && !needed.count(ref.into) &&
        is_unwritten(*around, all, position, ref.from) && written.insert(ref.from).second)
      needed.insert(ref.into);
  return needed;
}

void rename_inputs(Statement& stmt, const std::map<std::string, std::string>& renamed) {
  auto rename = [&](std::string& scalar) {
    auto to = renamed.find(scalar);
    if (to != renamed.end()) scalar = to->second;
  };
  if (auto* load = std::get_if<stripe::Load>(&stmt.op))
    for (std::string& name : load->at) rename(name);
  if (auto* store = std::get_if<stripe::Store>(&stmt.op)) {
    for (std::string& name : store->at) rename(name);
    rename(store->from);
  }
  if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op))
    for (std::string& input : op->inputs) rename(input);
}

std::vector<std::string> scalar_inputs(const Statement& stmt) {
  std::vector<std::string> inputs;
  if (auto* load = std::get_if<stripe::Load>(&stmt.op)) inputs = load->at;
  if (auto* store = std::get_if<stripe::Store>(&stmt.op)) {
    inputs = store->at;
    inputs.push_back(store->from);
  }
  if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) inputs = op->inputs;
  std::erase(inputs, "");  // coordinates that no scalar chooses
  return inputs;
}

std::vector<std::string> scalar_outputs(const Statement& stmt) {
  if (auto* op = std::get_if<stripe::Load>(&stmt.op)) return {op->into};
  if (auto* op = std::get_if<stripe::LoadIndex>(&stmt.op)) return {op->into};
  if (auto* op = std::get_if<stripe::Constant>(&stmt.op)) return {op->into};
  if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) return op->outputs;
  return {};
}

void forward_scalars(Block& block, const std::map<std::string, std::string>& renamed) {
  if (renamed.empty()) return;
  std::set<std::string> shared;  // scalars with new users
  for (const auto& [from, to] : renamed) shared.insert(to);
  std::map<std::string, int64_t> defined;
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    Statement& stmt = block.stmts[i];
    rename_inputs(stmt, renamed);
    if (block.tags.has(stripe::tag::kDeps)) {
      std::set<int64_t> deps(stmt.deps.begin(), stmt.deps.end());
      for (const std::string& name : scalar_inputs(stmt))
        if (shared.count(name)) deps.insert(defined.at(name));
      stmt.deps.assign(deps.begin(), deps.end());
    }
    for (const std::string& name : scalar_outputs(stmt)) defined[name] = static_cast<int64_t>(i);
  }
}

void replace_statements(Block& block, std::vector<std::vector<Statement>> parts) {
  std::vector<std::set<int64_t>> now;  // old position -> new positions of its list
  std::vector<Statement> stmts;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::set<int64_t> before;
    for (int64_t dep : block.stmts[i].deps) {
      const std::set<int64_t>& places = now[static_cast<size_t>(dep)];
      before.insert(places.begin(), places.end());
    }
    const bool ordered = block.tags.has(stripe::tag::kDeps);
    std::set<int64_t>& mine = now.emplace_back();
    for (Statement& stmt : parts[i]) {
      stmt.deps.assign(before.begin(), before.end());
      const int64_t position = static_cast<int64_t>(stmts.size());
      stmts.push_back(std::move(stmt));
      mine.insert(position);
      if (ordered) before = {position};
    }
    if (parts[i].empty()) mine = before;
  }
  block.stmts = std::move(stmts);
}

void erase_statements(Block& block, const std::vector<bool>& stays) {
  if (std::find(stays.begin(), stays.end(), false) == stays.end()) return;
  std::vector<std::vector<Statement>> parts(block.stmts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!stays[i]) continue;
    Statement stmt;
    stmt.op = std::move(block.stmts[i].op);
    stmt.tags = std::move(block.stmts[i].tags);
    parts[i].push_back(std::move(stmt));
  }
  replace_statements(block, std::move(parts));
}

void reorder_statements(Block& block, const std::vector<size_t>& order) {
  std::vector<int64_t> now(order.size());
  for (size_t i = 0; i < order.size(); ++i) now[order[i]] = static_cast<int64_t>(i);
  std::vector<Statement> stmts;
  for (size_t old : order) {
    Statement stmt = std::move(block.stmts[old]);
    for (int64_t& dep : stmt.deps) dep = now[static_cast<size_t>(dep)];
    std::sort(stmt.deps.begin(), stmt.deps.end());
    stmts.push_back(std::move(stmt));
  }
  block.stmts = std::move(stmts);
}

void keep_only_writers(const Block& block, std::vector<bool>& stays) {
  for (size_t i = block.stmts.size(); i-- > 0;)
    if (!stays[i]) stays[i] = is_needed(block, stays, i);
}

}  // namespace stria::passes
