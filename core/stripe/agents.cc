// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/agents.h"

#include <algorithm>

namespace stria::stripe {

bool is_wait(const Statement& stmt) { return stmt.special() && stmt.special()->name == "wait"; }
bool is_arrive(const Statement& stmt) { return stmt.special() && stmt.special()->name == "arrive"; }
bool is_async(const Statement& stmt) { return stmt.block() && stmt.block()->tags.has("async"); }

bool holds_phases(const Refinement& ref) {
  return ref.dir == RefDir::none && ref.tags.has("arrivals");
}

bool has_agents(const Block& block) {
  return block.tags.has("roles") || block.tags.has("async") ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return is_wait(stmt) || is_arrive(stmt) || (stmt.block() && has_agents(*stmt.block()));
         });
}

}  // namespace stria::stripe
