// SPDX-License-Identifier: Apache-2.0
// Chooses how the intermediate tensors of a program lie in memory, so that transposes cancel.
//
//   0: block [i, j] (in A[i, j], out T[j, i]) { T = A }          none new T[0, 0] fp32(8:4, 4:1)
//   1: block [i, j] (in T[j, i], out B[j, i]) { B = exp(T) }     none new B[0, 0] fp32(8:4, 4:1)
//   2: block [i, j] (in B[j, i], out R[i, j]) { R = B }
//
//   0: block [i, j] (in T = A[i, j], out B = R[i, j]) { B = exp(T) }
//
// Of every layout that a neighbour suggests, a tensor gets the one with which the kernels that
// touch it move the fewest bytes (stria/cost/block/walk_bytes.h); first from the inputs on, then
// from the outputs back, and once more until nothing gets better; the start of least bytes wins, as
// it was if none is better. A kernel that only copies costs nothing if its target lies like its
// source: the readers of one read the other, or the writers of one write the other, and the copy
// goes. Requires: nothing; leaves a #placed program and statements ordered by dependencies alone,
// and tensors that a special, a block with blocks inside or lanes work on. Ensures: the same
// values; the program's tensors keep their layout. Runs after split_prologue, for which copies of
// constants cost nothing, and before pack_inputs, which copies what pays, and order_indices, which
// walks along the layouts.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ChooseLayoutsOptions {
  std::string memory;  // memory unit of the model whose lines move; "": lines of 64 bytes
};

void describe(ChooseLayoutsOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status choose_layouts(stripe::Program& program, const ChooseLayoutsOptions& options,
                      PassContext& context);

}  // namespace stria::passes
