// SPDX-License-Identifier: Apache-2.0
// Chooses how the intermediate tensors of a program lie in memory, so that transposes cancel.
//
//   0: block [i, j] (in A[i, j], out T[j, i]) { T = A }          none new T[0, 0] fp32(8:4, 4:1)
//   1: block [i, j] (in T[j, i], out B[j, i]) { B = exp(T) }     none new B[0, 0] fp32(8:4, 4:1)
//   2: block [i, j] (in B[j, i], out R[i, j]) { R = B }
//
//   0: block [i, j] (in T = A[i, j], out B = R[i, j]) { B = exp(T) }
//
// For each tensor the pass tries every layout that a neighbour suggests. It takes the one with
// which the kernels that touch the tensor move the fewest bytes (stria/cost/block/walk_bytes.h). It
// sweeps from the inputs to the outputs and back, until nothing gets better. There are three
// starting points, and the result of fewest bytes wins; the old layouts stay if none is better.
//
// A kernel that only copies costs nothing if its target has the layout of its source: the copy is
// then removed. Either the readers of the target read the source, or the writers of the source
// write the target.
//
// Requires: nothing. It leaves a #placed program and sections that are ordered by dependencies as
// they are, and tensors that a special or a block with blocks inside uses, or that lanes hold.
// Ensures: the same values; the program's inputs and outputs keep their layout. Runs after
// split_prologue, since copies of constants cost nothing in the prologue; before pack_inputs, which
// copies inputs where that pays; and before order_indices, which orders loops along the layouts.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ChooseLayoutsOptions {
  std::string memory;  // memory unit of the model whose lines are counted; "": lines of 64 bytes
};

void describe(ChooseLayoutsOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status choose_layouts(stripe::Program& program, const ChooseLayoutsOptions& options,
                      PassContext& context);

}  // namespace stria::passes
