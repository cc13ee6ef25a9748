// SPDX-License-Identifier: Apache-2.0
// Gives a block copies of what it works on in another memory: copy-in of tensors that it reads, and
// accumulators for sums, which are written out once.
//
//   #part block [k:8] (in A[0, 8*k] fp32(16:64, 8:1), …) {          loc: SRAM, layout: odd
//     0: block [i:16, k:8] (in A[i, k] fp32(1:64, 1:1), …) { S }
//   }
//   #part block [k:8] (in A[0, 8*k] fp32(16:64, 8:1), …,
//                      none new<SRAM> A_scratch[0, 0] fp32(16:9, 8:1)) {
//     0: #copy block [i0:16, i1:8] (in A[i0, i1] fp32(1:64, 1:1),
//                                   out<SRAM> A_scratch[i0, i1] fp32(1:9, 1:1)) { copy }
//     1: block [i:16, k:8] (in<SRAM> A = A_scratch[i, k] fp32(1:9, 1:1), …) { S }
//   }
//
// With `dir` "in", the block copies in what its statements read of a tensor. Each element is copied
// once, even if several accesses reach it (x + i). Elements of the copy beyond the tensor are
// poison (`#clamp`) or zero; the constraints inside keep statements from using them. There are
// three layouts:
//
// - `packed`: dense strides.
// - `odd`: each dimension has an odd stride, so that neighbours along any dimension meet different
// banks. Dimensions that are contiguous with one another are merged first.
// - `outputs`: the copy is transposed where neighbouring outputs would otherwise not read vectors.
// If all elements that are read have a common distance (2*x), the gaps are left out.
//
// With `dir` "out", a sum gets an accumulator of its aggregation type, without gaps if its elements
// have a common distance. It is set to the identity before the statements that add, and written out
// after them.
//
// Requires: nothing in the block writes a tensor that it reads; that tensor is completely written
// before the kernel. Ensures: the same values. If the model says how large `loc` is, all copies of
// a block fit into it together. Runs after autotile, whose inner block reads the part that is
// copied, and before thread_lanes, which spreads the copies over lanes like other blocks.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

struct CacheOptions {
  std::vector<std::string> reqs = {"steps"};  // tags that a block must have
  std::vector<std::string> ref_reqs;          // tags that a refinement must have
  bool across = false;                        // only tensors that lie across what is written
  bool same_type = false;                     // only sums kept in the tensor's own type
  std::string dir = "in";         // "in": copy-in of tensors read; "out": accumulators for sums
  stripe::Location loc;           // of the copy: memory units of the hardware model
  int64_t spread = 1;             // instances of `loc` that share a copy
  stripe::Location xfer_loc;      // of the blocks that copy in; none: not set
  std::string layout = "packed";  // of copies: one of the three
  // Of a vector that a lane reads, for "outputs"; 0: the calibration of the model says.
  int64_t access_bytes = 0;
  std::string edges = stripe::tag::kClamp;  // beyond the tensor: "clamp" (poison) or "zero_fill"
  std::vector<std::string> copy_set = {"copy"};  // tags of the blocks that copy
};

void describe(CacheOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if `loc` holds
// nothing or `xfer_loc` runs nothing.
Status cache(stripe::Program& program, const CacheOptions& options, PassContext& context);

}  // namespace stria::passes
