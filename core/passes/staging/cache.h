// SPDX-License-Identifier: Apache-2.0
// Gives a block a copy of what it works on in a nearer memory: tensors read are fetched before they
// are used, sums grow near and are written out once.
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
// What the block's statements touch of a tensor read is copied once, elements that several accesses
// reach (x + i) once too. `odd` layouts give each dimension a stride that is odd, dimensions that
// lie behind one another merged: neighbours along any dimension meet different banks. `outputs`
// ones are transposed where they must be so that neighbouring outputs read vectors, and leave out
// what lies between the elements that are read where all of these are so many apart (2*x). Elements
// of the copy beyond the tensor are poison (`#clamp`) or zero; the constraints inside keep off
// them. Of tensors written, sums are cached: a place for them, in the type in which they are added,
// and without what lies between them where they are all so many apart, is set to the identity
// before the block's statements that add, and written out after them. Requires: nothing in the
// block writes a tensor that it reads; that tensor is written whole before the kernel. Ensures: the
// values are the same; where the model says how large `loc` is, a block's copies fit into it
// together. Runs after autotile, whose inner block's part is what is copied, and before
// thread_lanes, which spreads the copies over lanes like everything else.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct CacheOptions {
  std::vector<std::string> reqs = {"steps"};  // tags that a block must have
  std::vector<std::string> ref_reqs;          // tags that a refinement must have
  bool across = false;        // only tensors whose neighbours are no neighbours in what is written
  std::string dir = "in";     // "in": tensors read; "out": sums
  stripe::Location loc;       // of the copy: memory units of the hardware model
  int64_t spread = 1;         // instances of `loc` that share a copy
  stripe::Location xfer_loc;  // of the blocks that copy; none: not set
  std::string layout = "packed";  // of copies of what is read: packed, odd or outputs
  int64_t access_bytes = 16;      // that a lane reads at once, of "outputs"
  std::string edges = "clamp";    // beyond the tensor: "clamp" (poison) or "zero_fill"
  std::vector<std::string> copy_set = {"copy"};  // tags of the blocks that copy
};

void describe(CacheOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if `loc` holds
// nothing or `xfer_loc` runs nothing.
Status cache(stripe::Program& program, const CacheOptions& options, PassContext& context);

}  // namespace stria::passes
