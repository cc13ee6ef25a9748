// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/lane_blocks.h"
#include "stria/stripe/tags.h"

#include <algorithm>

namespace stria::stripe {
namespace {

bool holds_numbered(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
    const Block* inner = stmt.block();
    if (!inner || inner->tags.has(tag::kAsync)) return false;
    return numbers_units(*inner) || (is_between(*inner) && holds_numbered(*inner));
  });
}

}  // namespace

bool numbers_units(const Block& block) {
  return !block.location.empty() &&
         std::all_of(block.location.path.begin(), block.location.path.end(),
                     [](const LocationUnit& unit) { return !unit.units.empty(); });
}

bool is_between(const Block& block) {
  return !numbers_units(block) && !block.tags.has(tag::kStencil) && !block.tags.has(tag::kAsync) &&
         !block.tags.has(tag::kRoles);
}

bool holds_lane_blocks(const Block& block) {
  return !block.location.empty() && holds_numbered(block);
}

}  // namespace stria::stripe
