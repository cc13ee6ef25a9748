// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/agents.h"

#include <algorithm>

#include "stria/stripe/tags.h"

namespace stria::stripe {

bool is_wait(const Statement& stmt) { return stmt.special() && stmt.special()->name == "wait"; }
bool is_arrive(const Statement& stmt) { return stmt.special() && stmt.special()->name == "arrive"; }
bool is_async(const Statement& stmt) { return stmt.block() && stmt.block()->tags.has(tag::kAsync); }

bool holds_phases(const Refinement& ref) {
  return ref.dir == RefDir::none && ref.tags.has(tag::kArrivals);
}

bool has_agents(const Block& block) {
  return block.tags.has(tag::kRoles) || block.tags.has(tag::kAsync) ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return is_wait(stmt) || is_arrive(stmt) || (stmt.block() && has_agents(*stmt.block()));
         });
}

}  // namespace stria::stripe
