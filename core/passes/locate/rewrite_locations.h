// SPDX-License-Identifier: Apache-2.0
// Renames the units at the beginning of locations, so that a program for one machine can run on
// another.
//
//   {"prefix": {"name": "SM"}, "target": {"name": "CORE"}}
//
//   block<SM[g]> [g:4] (in<DRAM> A[g] …) { S }
//   block<CORE[g]> [g:4] (in<DRAM> A[g] …) { S }
//
// The first rewrite whose prefix matches the beginning of a location replaces that part by its
// target. A unit of the target without numbers keeps the numbers of the unit that it replaces, so
// that indices which run in parallel there stay parallel.
//
// Requires: the target of a block is an execution or transfer unit, and that of a refinement a
// memory. Ensures: only locations change. Runs last: the passes before it ask the model about the
// names that they know.
//
// No shipped pipeline runs it, since each names the units of its own machine. It takes a program
// that was compiled for one machine to another one whose units have other names.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocationRewrite {
  stripe::Location prefix;  // a pattern: `*` is any unit, a unit without numbers any instance
  stripe::Location target;
};

struct RewriteLocationsOptions {
  std::vector<std::string> reqs = {"program"};  // tags of the blocks; their insides too
  std::vector<LocationRewrite> rewrites;        // the first one that matches is used
};

void describe(RewriteLocationsOptions& options, OptionFields& fields);
// not_found if the model has units but not the target's, invalid_argument for a block on a memory
// or a refinement on an execution unit.
Status rewrite_locations(stripe::Program& program, const RewriteLocationsOptions& options,
                         PassContext& context);

}  // namespace stria::passes
