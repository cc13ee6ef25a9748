// SPDX-License-Identifier: Apache-2.0
// Copies an input into a layout in which the lanes of an output index read it in a row.
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
// Lanes over an output need no sum over lanes in the end and read one value for all of them of
// the other input: with few registers that is twice as fast as lanes over the reduction. A
// kernel qualifies if no output index has lanes as it is, one would have them but for one input,
// a cache holds the copy (what a tile reads of it is a column of short runs, slow to bring in
// from further away) or each element is read so often that panels of it are made, and the copy
// pays: either each element is read often, or the kernel writes so much that the sums over
// lanes, one for each element written, take longer than copying. Requires: points of the kernel
// commute. Ensures: the values are the same; a copied input stays as it is for all other
// kernels. Runs first: the copy is a kernel like others, and the passes that follow find the new
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
  int64_t reads = 512;     // points of the kernel for each element that is copied, at least, or
  int64_t per_output = 0;  // elements that are copied for each that is written, at most; 0 = none
  std::string memory = "L2";   // memory unit of the model that is to hold the copy
  int64_t uncached_reads = 0;  // points for each element of one that it does not hold; 0 = none
  int64_t percent = 50;        // of one instance of it, for the copy
  int64_t min_range = 4;       // shortest vector index, as for vectorize
};

void describe(PackInputsOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status pack_inputs(stripe::Program& program, const PackInputsOptions& options,
                   PassContext& context);

}  // namespace stria::passes
