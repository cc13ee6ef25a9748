// SPDX-License-Identifier: Apache-2.0
// Makes one block of a producer and the consumer that follows it, so that the tensor between them
// stays in registers, a scratchpad or a cache.
//
//   0: #kernel block [i:64, k:9] (in A[i, k], out T[i]:add.fp32) { sum }
//   1: #kernel block [i:64] (in T[i], out R[i]) { relu }
//
//   0: #kernel block [i:64] (in A[i, 0], none new T[0] fp32(1:1), out R[i]) {
//     0: block [k:9] (in A[0, k], out T[0]:add.fp32) { sum }
//     1: block [] (in T[0], out R[0]) { relu }
//   }
//
// The indices of the fused block are those of the consumer that walk along dimensions of the
// tensor. They advance in steps that both blocks can make. At each point the consumer reads a part
// of the tensor, and the producer computes that part first. In elementwise chains, prologues and
// epilogues the parts are disjoint. A consumer that reads further (x + i) makes them overlap, and
// the producer computes the border (halo) of each part again. This is done if it costs less time
// than the transfer of the tensor to main memory and back, by the model's operations for each byte.
// The tensor then becomes an allocation of the fused block. Otherwise it stays where it is, and
// `localize` may move it.
//
// Requires: points of both blocks commute, and no other tensor makes one block depend on the other.
// Ensures: the same values. What the fused block allocates in `loc` fits into `spread` instances of
// it, and all that it allocates for one of its points into `max_local_bytes`. The pass repeats
// until nothing is left to fuse. With `apart` two blocks stay apart if a cost of tiles says that
// this takes less time: fused, a long sum cannot be cut into steps, since what follows needs all of
// it, and both run on one unit. Runs after autotile or tensorize, so that parts are tiles, or
// before them, so that parts are points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/cost/models/cost_models.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct FusionOptions {
  std::vector<std::string> parent_reqs = {"main"};  // tags of the block around both
  std::vector<std::string> a_reqs;                  // tags of the first block, the producer
  std::vector<std::string> b_reqs;                  // tags of the second block, the consumer
  std::vector<std::string> exclude;                 // tags that neither may have
  std::vector<std::string> fused_set;               // tags of the fused block
  std::vector<std::string> a_inner_set;  // tags of the part of the first block in the fused one
  std::vector<std::string> b_inner_set;  // tags of the part of the second block
  std::vector<std::string> inner_remove_set;  // tags that both parts lose
  bool perfect = false;            // only if every index of both becomes one of the fused block
  bool perfect_first = false;      // only if every index of the first block does
  bool output_match = false;       // only if the second block writes with the accesses of its reads
  bool keep_rows = false;          // only if each point has whole rows of the largest tensor
  bool no_inner = false;           // only blocks without blocks inside
  bool no_constraints = false;     // only blocks without constraints
  int64_t max_refs = 1024;         // views of tensors that the fused block has, at most
  int64_t max_statements = 256;    // of the fused block, without blocks, at most
  int64_t max_local_bytes = 0;     // that it allocates for one of its points, at most; 0: no limit
  bool reductions = false;         // also over indices that the second block reduces
  std::string recompute = "cost";  // overlapping parts: "cost", "never" or "always"
  std::string order = "second";    // the loops are ordered as in the "first" or the "second" block
  bool local = false;    // the tensor becomes an allocation of the fused block wherever it can
  stripe::Location loc;  // of such an allocation; none: that of the tensor
  int64_t spread = 1;    // instances of `loc` that share it: for registers, the lanes of a group
  // Blocks whose tiles cost less apart stay apart.
  struct Apart {
    std::string memory;  // that tiles are in; "": it is not asked
    cost::CostChoice cost;
  };
  Apart apart;
};

void describe(FusionOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if `loc` holds
// nothing.
Status fusion(stripe::Program& program, const FusionOptions& options, PassContext& context);

}  // namespace stria::passes
