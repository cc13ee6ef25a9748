// SPDX-License-Identifier: Apache-2.0
// Makes one block of two neighbours, of which the second reads what the first writes, so that the
// tensor between them stays near.
//
//   0: #kernel block [i:64, k:9] (in A[i, k], out T[i]:add.fp32) { sum }
//   1: #kernel block [i:64] (in T[i], out R[i]) { relu }
//
//   0: #kernel block [i:64] (in A[i, 0], none new T[0] fp32(1:1), out R[i]) {
//     0: block [k:9] (in A[0, k], out T[0]:add.fp32) { sum }
//     1: block [] (in T[0], out R[0]) { relu }
//   }
//
// The second block's indices that walk along dimensions of the tensor become the fused block's, in
// steps that both blocks can make; the first one makes what these parts of the second one read. For
// elementwise chains, epilogues and prologues that is the same part. A second block that reaches
// further (x + i) has the first one make the border of its part again (a halo), if that costs less
// time than the tensor's way through main memory, by the model's operations for each byte. The
// tensor then lives inside; else it stays where it is, for `localize`, if others may use it.
// Requires: points of both blocks commute, and nothing else goes between them. Ensures: the same
// values; nothing is fused that would keep more in `loc` than one instance of it holds, or more
// than `max_local_bytes` inside. Runs again until nothing is left to fuse; after autotile or
// tensorize, so that parts are tiles, or before, so that they are points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct FusionOptions {
  std::vector<std::string> parent_reqs = {"main"};  // tags of the block around both
  std::vector<std::string> a_reqs;                  // tags of the first one
  std::vector<std::string> b_reqs;                  // tags of the second one
  std::vector<std::string> exclude;                 // tags that neither may have
  std::vector<std::string> fused_set;               // tags of the fused block
  std::vector<std::string> a_inner_set;             // tags of what is left of the first one inside
  std::vector<std::string> b_inner_set;             // of the second one
  std::vector<std::string> inner_remove_set;        // tags that both lose
  bool perfect = false;          // only if every index of both becomes one of the fused block
  bool perfect_first = false;    // only if every index of the first one does
  bool output_match = false;     // only if the second one writes as it reads, with the same indices
  bool keep_rows = false;        // only if whole rows of the largest tensor stay in its points
  bool no_inner = false;         // only blocks without blocks inside
  bool no_constraints = false;   // only blocks without constraints
  int64_t max_refs = 1024;       // views of tensors that the fused block has, at most
  int64_t max_statements = 256;  // that are no blocks, of the fused block, at most
  int64_t max_local_bytes = 0;   // that it keeps inside for one of its points, at most; 0: no limit
  bool reductions = false;       // also over indices that the second one reduces
  std::string recompute = "cost";  // "cost", "never" or "always": making borders again
  std::string order = "second";    // of the fused block's loops: that of the "first" or "second"
  bool local = false;              // the tensor lives inside wherever it can
  stripe::Location loc;            // of a tensor that does; none: where it was
  int64_t spread = 1;              // instances of `loc` that share it; of registers a group's lanes
};

void describe(FusionOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if `loc` holds
// nothing.
Status fusion(stripe::Program& program, const FusionOptions& options, PassContext& context);

}  // namespace stria::passes
