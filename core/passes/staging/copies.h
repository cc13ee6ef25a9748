// SPDX-License-Identifier: Apache-2.0
// Copies of tensors in another memory: a buffer there, the block that fills it (copy-in) or empties
// it (copy-out), and the views that become views of the buffer. `cache`, `schedule` and
// `stage_units` choose the tensors; what they do to the program then is written here.
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
// copy_in and copy_out do all of that for one tensor of a block: each point of the block then has
// a copy of its own. A pass that places buffers itself uses the parts at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

struct CopySpec {
  stripe::Location loc;                        // of the buffers
  stripe::Location xfer_loc;                   // of the blocks that copy; none: not set
  std::vector<std::string> in_tags, out_tags;  // of the blocks that copy in, and out
  // What a buffer holds of elements beyond the tensor: "clamp" (nothing that may be used) or
  // "zero_fill".
  std::string edges = "clamp";
};

// --- one tensor of a block ---
// `host` is a block of a kernel, or a kernel. It stands at `place` and has the refinement `tensor`.

// Copies what the host's statements read of a tensor that is `in` into a dense buffer, before the
// first of them. An element that several accesses reach is copied once. After a refusal nothing has
// changed.
Refusal copy_in(stripe::Block& host, const stripe::Place& place, PlaceNames& names,
                const std::string& tensor, const CopySpec& spec, PassContext& context);

// Has the host's statements write a tensor that is `out` in a dense buffer, and copies that to the
// tensor after the last of them. Exactly what has been written is copied: constraints of an uneven
// end or a border hold for the copy too. A sum may grow in the buffer if no other point of the host
// adds to its elements. After a refusal nothing has changed but that indices start at zero.
//   views_apart  the host's other views of the tensor are of other elements
Refusal copy_out(stripe::Block& host, const stripe::Place& place, const std::string& tensor,
                 const CopySpec& spec, bool views_apart = false);

// copy_in step by step, for buffers with a layout of their own: the caller may change the strides
// of the plan's shape, and nothing else.
struct CopyIn {
  std::string tensor;
  std::vector<Interval> part;  // what is read, in coordinates of the host's view
  std::vector<int64_t> steps;  // in each dimension, from one element in the buffer to the next
  TensorShape shape;           // of the buffer
};
// With `skip_gaps`, the buffer leaves out what lies between elements that are read, where all of
// these are so many apart (2*x).
Refusal plan_copy_in(const stripe::Block& host, const stripe::Place& place, PlaceNames& names,
                     const std::string& tensor, bool skip_gaps, CopyIn& plan);
void add_copy_in(stripe::Block& host, const stripe::Place& place, const CopyIn& plan,
                 const CopySpec& spec);

// Refused if the memory cannot hold the buffer: `in_use` bytes of it are taken, and `instances` of
// it share the buffer. A memory whose size the model does not say holds everything.
Refusal why_no_room(const TensorShape& buffer, const stripe::Location& loc,
                    const HardwareModel& model, int64_t in_use = 0, int64_t instances = 1);

// What accesses through the refinement must stay inside: the view of the tensor that the kernel's
// section (#main) has, or the allocation if that is nearer. Null if there is none.
//   begin  set to where the refinement begins in it, by dimension
const stripe::Refinement* outermost_view(const stripe::Place& place, const stripe::Refinement& ref,
                                         std::vector<Interval>* begin = nullptr);

// From the kernel to the host: blocks of the program, which a pass may change.
std::vector<stripe::Block*> path_from_kernel(stripe::Block& host, const stripe::Place& place);

// Does the statement load, store or hand to a special what the refinement around it views? Blocks
// do so through views of their own.
bool uses_itself(const stripe::Statement& stmt, const std::string& name);

// --- parts ---
// A copy block's first refinement is read, all others are written.

// An allocation, in no block yet.
stripe::Refinement make_buffer(std::string name, TensorShape shape, const stripe::Location& loc);

// Makes the statement's views of `tensor`, a refinement of the block around, views of the buffer.
// In dimension d the buffer holds the elements begin[d], begin[d] + steps[d], …. Without `begin` it
// holds the whole tensor, without `steps` neighbours.
void view_buffer(stripe::Statement& stmt, const std::string& tensor,
                 const stripe::Refinement& buffer, const std::vector<int64_t>& begin = {},
                 const std::vector<int64_t>& steps = {});

// Copies all of one refinement of a block to all of another one, of the same sizes.
stripe::Block copy_whole(const stripe::Refinement& from, const stripe::Refinement& to,
                         const stripe::Location& xfer_loc, const std::vector<std::string>& tags);

// Do both read the same elements of equal views, and fill equal buffers?
bool are_alike(const stripe::Block& copy, const stripe::Block& other);

// Has the copy fill one more buffer: `target` is the view of it that a copy like this one has.
void add_target(stripe::Block& copy, const stripe::Refinement& target);

// A copy from the first buffer that `copy` fills, with no target yet.
stripe::Block copy_onward(const stripe::Block& copy, const stripe::Location& xfer_loc);

}  // namespace stria::passes
