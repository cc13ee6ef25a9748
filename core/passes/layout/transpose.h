// SPDX-License-Identifier: Apache-2.0
// Lays intermediate tensors out so that the dimension that their readers walk through is
// contiguous.
//
//   none new@0x0 T[0, 0] fp32(64:32, 32:1)
//   1: block [i:8, j:32, k:64] (in A[i, k], in T[k, j] fp32(1:32, 1:1), out C[i, j]:add.fp32) {…}
//   none new@0x0 T[0, 0] fp32(64:1, 32:64)
//   1: block [i:8, j:32, k:64] (in A[i, k], in T[k, j] fp32(1:1, 1:64), out C[i, j]:add.fp32) {…}
//
// Each leaf that reads the tensor votes with the number of its points for the dimension that a
// reduction index (a #vector block: its lane) of it walks by ones; without such votes, for the one
// that the contiguous index of its output walks. Requires: a new refinement that has not been
// placed, is not swizzled, and that no special sees. Ensures: the same values; strides are dense,
// in the order that they had but for the chosen dimension, in the allocation and in every view. The
// program's tensors keep their layout. Runs before order_indices, autotile and vectorize, which
// choose by strides.
//
// `choose_layouts` decides by bytes moved and is what the shipped pipelines run. This is the plain
// rule, for machines whose model has no main memory to count bytes of.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct TransposeOptions {
  std::vector<std::string> reqs = {"main"};  // tags of the blocks whose buffers change
  std::vector<std::string> alloc_reqs;       // tags that a buffer must have
};

void describe(TransposeOptions& options, OptionFields& fields);
Status transpose(stripe::Program& program, const TransposeOptions& options, PassContext& context);

}  // namespace stria::passes
