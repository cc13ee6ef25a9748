// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/combiner.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "stria/builtins/builtin.h"
#include "stria/rewrite/index_role.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// The innermost block, if each block down to it holds only the next one and has one view of each
// view of the block before; else null. `names` are refinements of `block`, and become the innermost
// block's names for them.
const Block* only_leaf(const Block& block, std::vector<std::string>& names) {
  const Block* at = &block;
  while (at->stmts.size() == 1 && at->stmts[0].block()) {
    at = at->stmts[0].block();
    for (std::string& name : names) {
      const Refinement* view = nullptr;
      for (const Refinement& ref : at->refs) {
        if (ref.dir == RefDir::none || ref.from != name) continue;
        if (view) return nullptr;
        view = &ref;
      }
      if (!view) return nullptr;
      name = view->into;
    }
  }
  return is_leaf(*at) ? at : nullptr;
}

}  // namespace

const stripe::Intrinsic* combiner(const Block& block) {
  std::vector<std::string> names;
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::in) names.push_back(ref.into);
  const Block* leaf = only_leaf(block, names);
  if (!leaf) return nullptr;
  const stripe::Intrinsic* first = nullptr;
  std::set<std::string> loaded, open;  // views; values that are not used yet
  size_t stores = 0;
  for (const stripe::Statement& stmt : leaf->stmts) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) {
      if (!load->at.empty() || std::count(names.begin(), names.end(), load->from) != 1 ||
          !loaded.insert(load->from).second)
        return nullptr;
      open.insert(load->into);
    } else if (const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      const Builtin* builtin = find_builtin(op->name);
      if (!builtin || !builtin->joins || op->inputs.size() != 2 || op->outputs.size() != 1 ||
          (first && (op->name != first->name || op->type != first->type)))
        return nullptr;
      for (const std::string& input : op->inputs)
        if (open.erase(input) == 0) return nullptr;
      open.insert(op->outputs[0]);
      first = op;
    } else if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      if (!store->at.empty() || open.erase(store->from) == 0) return nullptr;
      ++stores;
    } else {
      return nullptr;
    }
  }
  return stores == 1 && open.empty() && loaded.size() == names.size() ? first : nullptr;
}

}  // namespace stria::passes
