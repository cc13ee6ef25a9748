// SPDX-License-Identifier: Apache-2.0
// Copies an input into a layout in which the lanes of an output index read it contiguously.
//
//   #kernel block [i:64, j:64, k:64] (
//       in A[i, k], in B[j, k] fp32(1:64, 1:1), out C[i, j]:add.fp32) { S }
//
//   none new B_packed[0, 0] fp32(64:1, 64:64)
//   #copy #kernel block [j:64, k:64] (
//       in B[j, k] fp32(1:64, 1:1), out B_packed[j, k] fp32(1:1, 1:64)) { copy }
//   #kernel block [i:64, j:64, k:64] (
//       in A[i, k], in B = B_packed[j, k] fp32(1:1, 1:64), out C[i, j]:add.fp32) { S }
//
// Lanes over an output need no sum over lanes in the end, and they share one value of the other
// input. With few registers that is twice as fast as lanes over the reduction.
//
// A kernel qualifies under these conditions:
//
// - No output index can become lanes as it is, and one could if a single input were packed.
// - A cache holds the copy: a tile reads a column of short runs of it, which come slowly from
// memory further away. Or each element is read so often that panels of the copy are made.
// - The copy pays: each element is read often, or the kernel writes so many elements that the sum
// over lanes, which each of them needs, takes longer than copying.
//
// Requires: points of the kernel commute. Ensures: the same values; other kernels read the input as
// it is. Runs early: the copy is a kernel like others, and the passes that follow see the new
// layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PackInputsOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a kernel must have
  // A copy pays if the kernel has at least `reads` points for each element that is copied, or if at
  // most `per_output` elements are copied for each that is written (0 = none).
  int64_t reads = 0;
  int64_t per_output = 0;
  std::string memory = "L2";  // memory unit of the model that is to hold the copy
  // Points for each element of a copy that `memory` does not hold, at least; 0 = no such copy.
  int64_t uncached_reads = 0;
  int64_t percent = 50;  // of one instance of `memory` that the copy may take
  // An index with fewer points gets no lanes; 0: the calibration of the model says.
  int64_t min_range = 0;
};

void describe(PackInputsOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status pack_inputs(stripe::Program& program, const PackInputsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
