// SPDX-License-Identifier: Apache-2.0
// Kernels and the scratchpad memory inside them: what a kernel allocates there, and how a kernel
// whose tensors are too large copies in what each of its points reads, and copies results out.
//
//   #kernel block<CONV> [x:8] (in<DRAM> A[16*x], out<DRAM> C[16*x]) { 0: block [x:16] { S } }
//   #kernel #pipeline=2 block<CONV> [x:8] (in<DRAM> A[16*x], out<DRAM> C[16*x],
//       none new<SRAM> A_scratch[0], none new<SRAM> C_scratch[0]) {
//     0: #swap_in block<DMA> { copy }
//     1: block [x:16] { S }
//     2: #swap_out block<DMA> { copy }
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/passes/staging/copies.h"
#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

// An allocation inside a kernel.
struct OwnBuffer {
  stripe::Block* owner = nullptr;
  stripe::Refinement* ref = nullptr;
  int64_t bytes = 0;  // of all its places: one for each point under way in pipelines around it
  int64_t bank = -1;  // the instance that its location names; -1: any
};

// The allocations in the memory unit of this name, in the order of the text. Those whose instance
// depends on indices are left out.
std::vector<OwnBuffer> own_buffers(stripe::Block& kernel, const std::string& memory);

// Does the kernel have an index whose values all write the same elements?
bool adds_from_point_to_point(const stripe::Block& kernel);
// Points of a kernel that add to one part of the result become the steps of a point: a loop inside
// it, tagged #steps, with #pipeline=`under_way` if that is more than 1.
void split_steps(stripe::Block& kernel, int64_t under_way);
// The loop over the steps; null if the kernel has none.
stripe::Block* steps_of(stripe::Block& kernel);

// Where a kernel stands.
struct KernelPlace {
  const stripe::Place* section = nullptr;
  size_t position = 0;
};
// Makes the kernel copy in what each of its points, or each of its steps, reads of the tensor, and
// copy out what its points write. `tensor` is a name of the block around. With `updates`, points
// that need what was there before copy that in, too. After a refusal the kernel may be partly
// changed.
Refusal stage_tensor(stripe::Block& kernel, const KernelPlace& place, PlaceNames& names,
                     const std::string& tensor, const CopySpec& spec, bool updates,
                     PassContext& context);

// The number of points of the kernel's own indices.
int64_t points_of(const stripe::Block& kernel);

}  // namespace stria::passes
