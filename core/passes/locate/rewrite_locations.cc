// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/rewrite_locations.h"

#include "stria/pass/select_blocks.h"
#include "stria/passes/locate/location_changes.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/text/printer.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Location;

class LocationRewriter {
 public:
  LocationRewriter(const RewriteLocationsOptions& options, LocationChanges& changes,
                   PassContext& context)
      : options_(options), changes_(changes), context_(context) {}

  Status run(Block& block) {
    STRIA_RETURN_IF_ERROR(rewrite(block.location, UnitUse::run));
    for (stripe::Refinement& ref : block.refs)
      STRIA_RETURN_IF_ERROR(rewrite(ref.location, UnitUse::hold));
    for (stripe::Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) STRIA_RETURN_IF_ERROR(run(*inner));
    return {};
  }

 private:
  Status rewrite(Location& location, UnitUse use) {
    if (location.empty()) return {};
    for (size_t i = 0; i < options_.rewrites.size(); ++i) {
      const LocationRewrite& rule = options_.rewrites[i];
      if (!begins_with(location, rule.prefix)) continue;
      context_.matched();
      STRIA_RETURN_IF_ERROR(check_location(context_.model(), use,
                                           fmt::format("/rewrites/{}/target", i), rule.target));
      Location then = rule.target;
      for (size_t u = 0; u < then.path.size() && u < rule.prefix.path.size(); ++u) {
        if (then.path[u].units.empty()) then.path[u].units = location.path[u].units;
        then.path[u].owners = location.path[u].owners;
      }
      then.path.insert(then.path.end(),
                       location.path.begin() + static_cast<ptrdiff_t>(rule.prefix.path.size()),
                       location.path.end());
      // The kept numbers may be beyond the new unit's count.
      if (Status fits = check_location(context_.model(), use, fmt::format("/rewrites/{}", i), then);
          !fits.ok())
        context_.skipped(to_string(location), fits.message());
      else
        changes_.set(location, std::move(then));
      return {};
    }
    return {};
  }

  const RewriteLocationsOptions& options_;
  LocationChanges& changes_;
  PassContext& context_;
};

void describe_rewrite(LocationRewrite& rewrite, OptionFields& fields) {
  fields.add(
      "prefix", rewrite.prefix,
      "how a location begins; a unit without numbers matches all its instances, `*` any unit");
  fields.add("target", rewrite.target,
             "what replaces that; a unit without numbers keeps the old numbers");
}

}  // namespace

void describe(RewriteLocationsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks that are rewritten; their insides too");
  fields.add("rewrites", options.rewrites,
             "rewrites, of which the first with a matching prefix is used", describe_rewrite);
}

Status rewrite_locations(stripe::Program& program, const RewriteLocationsOptions& options,
                         PassContext& context) {
  for (size_t i = 0; i < options.rewrites.size(); ++i) {
    const LocationRewrite& rule = options.rewrites[i];
    if (rule.prefix.empty())
      return invalid_argument("/rewrites/{}/prefix: is missing; it names a unit at least", i);
    STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::either,
                                         fmt::format("/rewrites/{}/target", i), rule.target));
  }
  LocationChanges changes;
  STRIA_RETURN_IF_ERROR(
      for_each_selected(program, options.reqs, [&](Block& block, const TensorNames&) {
        return LocationRewriter(options, changes, context).run(block);
      }));
  return changes.settle(program, context);
}

}  // namespace stria::passes
