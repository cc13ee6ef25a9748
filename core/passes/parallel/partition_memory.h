// SPDX-License-Identifier: Apache-2.0
// Spreads the largest input of a kernel over the instances (banks) of a memory, and cuts the kernel
// so that each part reads from one of them.
//
//   in<SRAM> A[0, 0] fp32(64:32, 32:1)                                             4 of SRAM
//   0: #kernel block [i:64, k:32] (in<SRAM> A[i, k], in B[k], out C[i]:add.fp32) { S }
//   #bank_dim=0 #bank_size=16 in<SRAM> A[0, 0] fp32(64:32, 32:1)
//   0: #kernel block [#bank i:4] (in<SRAM[i]> A[16*i, 0], in B[0], out C[16*i]:add.fp32) {
//     0: block [i:16, k:32] (in<SRAM> A[i, k], in B[k], out C[i]:add.fp32) { S }
//   }
//
// The tensor is banked along one dimension: coordinate c lies in instance c / bank_size. Along that
// dimension only one index may move, each of its steps must read elements that no other step reads,
// and the index must write elements of its own. If several indices qualify, the pass takes the one
// whose number of parts is nearest to num_parts; then the one with the most even parts; then the
// one with the larger stride. If the largest input has no such index (the parts of an image that
// taps walk over share their edges), the pass tries the next input.
//
// The view of the outer block names the instance. The refinement of the tensor in #main or
// #prologue is tagged, and later kernels either use the same banks or stay as they are.
//
// Requires: points of the kernel commute; the tensor has no location, or is in `memory` as a whole.
// Ensures: the same points run; an uneven end has a constraint; there are never more parts than
// instances. Runs after locate_memory, which would overwrite the instance by one place for the
// whole tensor, and after the passes that order or tile the kernel, so that the outer block stays
// as it is.
//
// No shipped pipeline runs it, since their devices have one main memory. It is for machines of
// which each core reaches a memory of its own faster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PartitionMemoryOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string memory;                 // memory unit of the model; "" = the view names no instance
  int64_t num_parts = 0;              // wanted number of parts; 0 = one for each of `memory`
  std::vector<std::string> set_tags;  // tags added to the outer block
  std::string idx_tag;                // tag added to the index that counts instances
  int64_t only_multiple_of = 1;       // tiles are multiples of this, or whole
};

void describe(PartitionMemoryOptions& options, OptionFields& fields);
// invalid_argument if neither num_parts nor a memory says how many parts; not_found or
// invalid_argument if the model has units but not this one.
Status partition_memory(stripe::Program& program, const PartitionMemoryOptions& options,
                        PassContext& context);

}  // namespace stria::passes
