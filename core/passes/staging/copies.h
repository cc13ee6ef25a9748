// SPDX-License-Identifier: Apache-2.0
// Copies of tensors in another memory: a buffer there, the block that fills it (copy-in) or writes
// it back (copy-out), and views of the buffer in place of views of the tensor. `cache`, `schedule`
// and `stage_units` choose the tensors; the rewrites that they share are here.
//
//   block [x:8] (in A[16*x] fp32(16:1), out C[16*x] fp32(16:1)) {
//     0: block [x:16] (in A[x], out C[x]) { S }
//   }
//   block [x:8] (in A[16*x] fp32(16:1), out C[16*x] fp32(16:1),
//                none new<SRAM> A_scratch[0] fp32(16:1), none new<SRAM> C_scratch[0] fp32(16:1)) {
//     0: #swap_in block<DMA> [i0:16] (in A[i0], out<SRAM> A_scratch[i0]) { copy }
//     1: block [x:16] (in<SRAM> A = A_scratch[x], out<SRAM> C = C_scratch[x]) { S }
//     2: #swap_out block<DMA> [x:16] (in<SRAM> C_scratch[x], out C[x]) { copy }
//   }
//
// copy_in and copy_out do all of that for one tensor of a block: each point of the block then has a
// copy of its own. A pass that places buffers itself uses the parts at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

struct CopySpec {
  stripe::Location loc;                        // of the buffers
  stripe::Location xfer_loc;                   // of the blocks that copy; none: not set
  std::vector<std::string> in_tags, out_tags;  // of the blocks that copy in, and out
  // What a buffer holds for elements beyond the tensor: "clamp" (poison) or "zero_fill".
  std::string edges = stripe::tag::kClamp;
};

// --- one tensor of a block ---
// `host` is a kernel, or a block inside one. It stands at `place` and has the refinement `tensor`.

// Copies what the host's statements read of a tensor that is `in` into a dense buffer, before the
// first of them. An element that several accesses reach is copied once. After a refusal nothing has
// changed.
Refusal copy_in(stripe::Block& host, const stripe::Place& place, PlaceNames& names,
                const std::string& tensor, const CopySpec& spec, PassContext& context);

// Makes the host's statements write a dense buffer instead of a tensor that is `out`, and copies
// that to the tensor after the last of them. Exactly what has been written is copied: constraints
// of an uneven end or a border also hold for the copy. A sum may accumulate in the buffer if no
// other point of the host adds to its elements. After a refusal nothing has changed, except that
// indices start at zero.
//   views_apart  the host's other views of the tensor have no element in common with this one
Refusal copy_out(stripe::Block& host, const stripe::Place& place, const std::string& tensor,
                 const CopySpec& spec, bool views_apart = false);

// Copies what the host's statements reach of a tensor into a buffer, before the first of them, lets
// them work there, and copies back exactly what they have written: for a tensor of which they write
// a part and read the rest, or of which they read what was there before. Points of the host that
// reach one element must not run at once; the caller asks the verifier. The host's view becomes
// `inout`. After a refusal nothing has changed, except that indices start at zero.
Refusal copy_in_and_out(stripe::Block& host, const stripe::Place& place, const std::string& tensor,
                        const CopySpec& spec);

// copy_in in two steps, for buffers with a layout of their own. Between them the caller may change
// the strides of the plan's shape, and nothing else.
struct CopyIn {
  std::string tensor;
  std::vector<Interval> part;  // what is read, in coordinates of the host's view
  std::vector<int64_t> steps;  // in each dimension, from one element in the buffer to the next
  TensorShape shape;           // of the buffer
};
// With `skip_gaps`, the buffer leaves out the elements between those that are read, if these have a
// common distance (2*x).
Refusal plan_copy_in(const stripe::Block& host, const stripe::Place& place, PlaceNames& names,
                     const std::string& tensor, bool skip_gaps, CopyIn& plan);
void add_copy_in(stripe::Block& host, const stripe::Place& place, const CopyIn& plan,
                 const CopySpec& spec);

// Refuses a buffer that the memory cannot hold. `in_use` bytes of it are taken, and `instances` of
// it share the buffer. A memory whose size the model does not give holds everything.
Refusal why_no_room(const TensorShape& buffer, const stripe::Location& loc,
                    const HardwareModel& model, int64_t in_use = 0, int64_t instances = 1);

// The refinement inside which accesses through `ref` must stay: the section's (#main's) view of the
// tensor, or an allocation between. Null if there is none.
//   begin  set to where the refinement begins in it, by dimension
const stripe::Refinement* outermost_view(const stripe::Place& place, const stripe::Refinement& ref,
                                         std::vector<Interval>* begin = nullptr);

// The blocks from the kernel to the host, which a pass may change.
std::vector<stripe::Block*> path_from_kernel(stripe::Block& host, const stripe::Place& place);

// --- parts ---
// The first refinement of a copy block is read, and all others are written.

// An allocation that is not in a block yet.
stripe::Refinement make_buffer(std::string name, TensorShape shape, const stripe::Location& loc);

// Makes the statement's views of `tensor`, a refinement of the block around, views of the buffer.
// In dimension d the buffer holds the elements begin[d], begin[d] + steps[d], …. Without `begin` it
// holds the whole tensor; without `steps`, every element from `begin` on.
void view_buffer(stripe::Statement& stmt, const std::string& tensor,
                 const stripe::Refinement& buffer, const std::vector<int64_t>& begin = {},
                 const std::vector<int64_t>& steps = {});

// A block that copies one refinement of a block to another one of the same sizes.
stripe::Block copy_whole(const stripe::Refinement& from, const stripe::Refinement& to,
                         const stripe::Location& xfer_loc, const std::vector<std::string>& tags);

// Do both copies read the same elements of equal views, and fill equal buffers?
bool are_alike(const stripe::Block& copy, const stripe::Block& other);

// Makes the copy fill one more buffer. `target` is the view of that buffer in an equal copy.
void add_target(stripe::Block& copy, const stripe::Refinement& target);

// A copy whose source is the first buffer that `copy` fills. It has no target yet.
stripe::Block copy_onward(const stripe::Block& copy, const stripe::Location& xfer_loc);

}  // namespace stria::passes
