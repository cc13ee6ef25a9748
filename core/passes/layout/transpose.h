// SPDX-License-Identifier: Apache-2.0
// Lays intermediate tensors out so that the dimension along which their readers walk is contiguous.
//
//   none new@0x0 T[0, 0] fp32(64:32, 32:1)
//   1: block [i:8, j:32, k:64] (in A[i, k], in T[k, j] fp32(1:32, 1:1), out C[i, j]:add.fp32) {…}
//   none new@0x0 T[0, 0] fp32(64:1, 32:64)
//   1: block [i:8, j:32, k:64] (in A[i, k], in T[k, j] fp32(1:1, 1:64), out C[i, j]:add.fp32) {…}
//
// Each leaf block that reads the tensor votes for one dimension, with the number of its points. It
// is the dimension along which a reduction index (of a #vector block: its lane index) walks by
// single elements. If there are no such votes, it is the one along which the contiguous index of
// the output walks.
//
// Requires: an allocation that has not been placed, has no swizzle, and that no special uses.
// Ensures: the same values. The allocation and all its views get dense strides; the chosen
// dimension becomes contiguous, and the others keep their order. The program's own tensors keep
// their layout. Runs before order_indices, autotile and vectorize, which choose by strides.
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
