// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/allocations.h"

namespace stria::passes {

void Allocations::scan(const stripe::Block& block, const Names& around) {
  Names& names = names_[&block];
  for (const stripe::Refinement& ref : block.refs) {
    auto outer = around.find(ref.from);
    if (ref.dir == stripe::RefDir::none || outer == around.end()) {
      names[ref.into] = allocations_.size();
      allocations_.push_back({&block, &ref});
    } else {
      names[ref.into] = outer->second;
    }
  }
  for (const stripe::Statement& stmt : block.stmts)
    if (const stripe::Block* inner = stmt.block()) scan(*inner, names);
}

}  // namespace stria::passes
