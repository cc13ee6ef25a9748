// SPDX-License-Identifier: Apache-2.0
// Cuts a kernel's reduction into parts that run in parallel, and adds the parts up in a second
// kernel.
//
//   #kernel block [i:4, k:4096] (in A[i, k], out C[i]:add.fp32) { S }                     parts: 16
//
//   none new C_parts[0, 0] fp32(16:4, 4:1)
//   #kernel block [i:4, k:256, part:16] (
//       in A[i, k + 256*part], out C = C_parts[part, i]:add.fp32) { S }
//   #kernel block [i:4, part:16] (in C_parts[part, i], out C[i]:add.fp32) { add }
//
// It is for kernels with too few outputs to keep the machine busy. The longest reduction index is
// cut. If constraints may leave an element without points in a part, a third kernel sets all parts
// to the identity first.
//
// Requires: the kernel is one block of loads, scalar statements and one store that aggregates.
// Ensures: the same values, except for the order of the sum (M10). Runs before autotile, which
// tiles all of these kernels like any others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/cost/models/group_time_options.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SplitReductionOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a kernel must have
  int64_t parts = 0;            // 0: as many as give every unit `groups_per_unit` groups
  std::string unit = "CU";      // execution unit of the model that runs a group
  int64_t groups_per_unit = 4;  // that each unit should have at once, so that none is idle
  int64_t outputs = 0;          // of one group; 0: the calibration of `unit` says
  int64_t min_steps = 64;       // of the reduction in a part, at least
  bool clear = true;            // also kernels whose parts must be set to the identity first
  // With the cost "group_time", and `parts` 0: the pass tries 2 parts, 4 parts and so on, up to the
  // number that the other options give. It takes the number with which all kernels together take
  // the shortest time, each with its best tile; that may be one kernel without parts. Starting a
  // kernel takes the model's launch_us, at the same time as the kernel before runs. A kernel begins
  // the model's drain_us after the one that it waits for. It is an error to change these options
  // without a cost, or with `parts`.
  struct Tile {
    std::string cost;            // "group_time", or "" for none
    int64_t pipeline_depth = 1;  // steps staged at once
    cost::GroupTimeOptions groups;
    bool operator==(const Tile&) const = default;
  };
  Tile tile;
  // Then also: the execution unit whose instructions multiply matrices; "" = none. A kernel takes
  // the shorter of both times.
  std::string matrix_unit;
};

void describe(SplitReductionOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one; invalid_argument for a
// tile that would not be looked at.
Status split_reduction(stripe::Program& program, const SplitReductionOptions& options,
                       PassContext& context);

}  // namespace stria::passes
