// SPDX-License-Identifier: Apache-2.0
// Renames the units at the beginning of locations: where a program for one machine goes to another.
//
//   {"prefix": {"name": "SM"}, "target": {"name": "CORE"}}
//
//   block<SM[g]> [g:4] (in<DRAM> A[g] …) { S }
//   block<CORE[g]> [g:4] (in<DRAM> A[g] …) { S }
//
// The first rewrite whose prefix a location begins with replaces that part by its target. A unit of
// the target without numbers keeps those of the prefix's unit at its place; so indices that run in
// parallel there stay parallel. Requires: a block comes to an execution or transfer unit, a
// refinement to a memory. Ensures: nothing but locations changes. Runs last: passes before it ask
// the model about the names that they know.
//
// No shipped pipeline runs it: each names the units of its own machine. It takes a program that was
// compiled for one machine to another whose units have other names.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocationRewrite {
  stripe::Location prefix;  // a pattern: `*` is any unit, a unit without numbers any of its name
  stripe::Location target;
};

struct RewriteLocationsOptions {
  std::vector<std::string> reqs = {"program"};  // tags of the blocks; their insides too
  std::vector<LocationRewrite> rewrites;        // the first that fits is taken
};

void describe(RewriteLocationsOptions& options, OptionFields& fields);
// not_found if the model has units but not the target's, invalid_argument for a block on a memory
// or a refinement on an execution unit.
Status rewrite_locations(stripe::Program& program, const RewriteLocationsOptions& options,
                         PassContext& context);

}  // namespace stria::passes
