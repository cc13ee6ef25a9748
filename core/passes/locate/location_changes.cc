// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/location_changes.h"

#include <algorithm>
#include <optional>

#include "stria/rewrite/kernel_probe.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {
namespace {

using stripe::Block;

// Does an index number a unit? In the location of a refinement, such a number must be within the
// unit's count.
bool numbers_by_index(const stripe::Location& location) {
  return std::any_of(location.path.begin(), location.path.end(),
                     [](const stripe::LocationUnit& unit) {
                       return std::any_of(unit.units.begin(), unit.units.end(),
                                          [](const Affine& form) { return !form.is_constant(); });
                     });
}

// Can a location in the kernel break a rule? There are rules about barriers, lanes, what lanes
// hold, points under way, and instructions of units.
bool locations_matter(const Block& kernel, bool located = false) {
  if (kernel.tags.has(stripe::tag::kPipeline) || kernel.tags.has(stripe::tag::kStencil))
    return true;
  for (const stripe::Refinement& ref : kernel.refs) {
    if (numbers_by_index(ref.location)) return true;
    for (const stripe::LocationUnit& unit : ref.location.path)
      if (!unit.owners.empty()) return true;
  }
  const std::vector<stripe::LocationUnit>& path = kernel.location.path;
  const bool numbers = std::any_of(path.begin(), path.end(), [](const stripe::LocationUnit& unit) {
    return !unit.units.empty();
  });
  if (located && numbers) return true;
  located = located || !path.empty();
  return std::any_of(kernel.stmts.begin(), kernel.stmts.end(), [&](const stripe::Statement& stmt) {
    if (is_barrier(stmt)) return true;
    return stmt.block() && locations_matter(*stmt.block(), located);
  });
}

// The first broken rule in the verifier's text, without the place.
std::string rule_of(const std::string& broken) {
  const std::string line = broken.substr(0, broken.find('\n'));
  const size_t statement = line.rfind("`: "), path = line.find(": ");
  if (statement != std::string::npos) return line.substr(statement + 3);
  return path == std::string::npos ? line : line.substr(path + 2);
}

}  // namespace

void LocationChanges::set(stripe::Location& location, stripe::Location then) {
  if (then == location) return;
  before_.try_emplace(&location, location);
  location = std::move(then);
}

int64_t LocationChanges::inside(Block& block, bool take_back) {
  int64_t count = 0;
  auto look = [&](stripe::Location& location) {
    const auto at = before_.find(&location);
    if (at == before_.end() || at->second == location) return;
    ++count;
    if (take_back) location = at->second;
  };
  look(block.location);
  for (stripe::Refinement& ref : block.refs) look(ref.location);
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) count += inside(*inner, take_back);
  return count;
}

Status LocationChanges::settle(stripe::Program& program, Block& section, PassContext& context) {
  std::optional<KernelProbe> probe;
  for (stripe::Statement& stmt : section.stmts) {
    Block* kernel = stmt.block();
    if (!kernel || inside(*kernel, false) == 0 || !locations_matter(*kernel)) continue;
    if (!probe) {
      STRIA_ASSIGN(KernelProbe made, KernelProbe::of(program, section, context.model()));
      probe = std::move(made);
    }
    stripe::AccessRules asked;
    asked.inside = asked.poison = false;
    if (probe->undecided(*kernel, asked)) continue;
    inside(*kernel, true);
    context.skipped(kernel->name, rule_of(probe->broken().reason()));
  }
  return {};
}

Status LocationChanges::settle(stripe::Program& program, PassContext& context) {
  if (before_.empty()) return {};
  for (Block* section : {program.prologue(), program.main()})
    if (section) STRIA_RETURN_IF_ERROR(settle(program, *section, context));
  for (int64_t n = inside(program.entry, false); n > 0; --n) context.changed();
  return {};
}

}  // namespace stria::passes
