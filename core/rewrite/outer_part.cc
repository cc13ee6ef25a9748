// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/outer_part.h"

#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;
using stripe::Index;

void rename_indices(Block& block, const std::map<std::string, Affine>& names) {
  if (names.empty()) return;
  substitute_indices(block, names);
  for (Index& index : block.idxs)
    if (auto name = names.find(index.name); name != names.end())
      index.name = name->second.terms()[0].first;
}

void keep_inside(Block& outer) {
  Block& inner = *outer.stmts[0].block();
  for (const stripe::Tag& tag : outer.tags.all())
    if (tag.name != stripe::tag::kKernel) inner.tags.set(tag.name, tag.value);
  inner.name = outer.name;
  // The larger block holds several such blocks, and constraints of one do not hold for another.
  for (const Affine& constraint : outer.constraints)
    inner.constraints.push_back(
        constraint.rename([&](const std::string& name) { return bring_in(inner, name); }));
  outer.constraints.clear();
}

}  // namespace stria::passes
