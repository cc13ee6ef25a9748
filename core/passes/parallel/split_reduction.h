// SPDX-License-Identifier: Apache-2.0
// Cuts a kernel's reduction into parts that run at once, and adds the parts up in a second kernel.
//
//   #kernel block [i:4, k:4096] (in A[i, k], out C[i]:add.fp32) { S }                     parts: 16
//
//   none new C_parts[0, 0] fp32(16:4, 4:1)
//   #kernel block [i:4, k:256, part:16] (
//       in A[i, k + 256*part], out C = C_parts[part, i]:add.fp32) { S }
//   #kernel block [i:4, part:16] (in C_parts[part, i], out C[i]:add.fp32) { add }
//
// For kernels with too few outputs to keep the machine busy. The longest reduction index is cut.
// Where constraints may leave an element without points in a part, all parts are set to the
// identity first. Requires: the kernel is one block of loads, scalar statements and one store that
// aggregates. Ensures: the values change only by the order of the sum (M10). Runs before autotile,
// which tiles both kernels like any others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/tile/tile_choice.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SplitReductionOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a kernel must have
  int64_t parts = 0;            // 0: as many as it takes to have `groups` groups
  std::string unit = "CU";      // execution unit of the model; its count is the number of groups
  int64_t groups_per_unit = 4;  // at once on each, so that none waits
  int64_t outputs = 1024;       // of one group
  int64_t min_steps = 64;       // of the reduction in a part, at least
  bool clear = true;            // also where the parts have to be set to the identity first
  // With the cost "group_time", and `parts` 0: half as many parts again and again, down to none,
  // and of these as many as take the shortest time with the other kernels, by the best tile of
  // each. Starting a kernel takes the model's launch_us. As it is by default, it is not looked at;
  // otherwise without a cost, or with `parts`, it is an error.
  TileChoiceOptions tile = {.cost = ""};
};

void describe(SplitReductionOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one; invalid_argument for a
// tile that would not be looked at.
Status split_reduction(stripe::Program& program, const SplitReductionOptions& options,
                       PassContext& context);

}  // namespace stria::passes
