// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/plain_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

namespace {

bool is_plain(const Block& inner, const Block& around) {
  const bool blocks = std::all_of(inner.stmts.begin(), inner.stmts.end(),
                                  [](const Statement& s) { return s.block() && s.deps.empty(); });
  if (!blocks || !inner.idxs.empty() || !inner.constraints.empty() || !inner.location.empty() ||
      inner.tags.has(stripe::tag::kDeps) || inner.tags.has(stripe::tag::kUnroll))
    return false;
  return std::all_of(inner.refs.begin(), inner.refs.end(), [&](const Refinement& ref) {
    if (ref.dir == RefDir::none) return true;
    const Refinement* outer = around.find_ref(ref.from);
    return outer && ref.access == std::vector<Affine>(ref.access.size()) &&
           ref.shape == outer->shape && !ref.agg && ref.tags.empty() &&
           ref.location == outer->location;
  });
}

}  // namespace

void open_plain_blocks(Block& block) {
  std::set<std::string> taken;
  for (const Refinement& ref : block.refs) taken.insert(ref.into);
  for (const Index& index : block.idxs) taken.insert(index.name);
  std::vector<Statement> all;
  bool again = false;
  for (Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (!inner || !is_plain(*inner, block)) {
      all.push_back(std::move(stmt));
      continue;
    }
    again = true;
    std::map<std::string, std::string> views;
    for (Refinement& ref : inner->refs) {
      views[ref.into] = ref.from;
      if (ref.dir != RefDir::none) continue;
      ref.into = views[ref.into] = fresh_name(ref.into, taken);
      block.refs.push_back(std::move(ref));
    }
    for (Statement& one : inner->stmts) {
      for (Refinement& ref : one.block()->refs)
        if (ref.dir != RefDir::none) ref.from = views.at(ref.from);
      all.push_back(std::move(one));
    }
  }
  block.stmts = std::move(all);
  if (again) open_plain_blocks(block);
}

}  // namespace stria::passes
