// SPDX-License-Identifier: Apache-2.0
// Makes a program of one kernel, so that a device can time it.
#pragma once

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The kernel that `block` is, or in which it stands, with `candidate` in the block's place. All
// tensors that the kernel uses, temporaries of its section included, become inputs and outputs of
// the new program and keep their layouts. Constants stay constants if the kernel is in #main and
// also reads something else. unsupported if the block is in no kernel.
Result<stripe::Program> kernel_alone(const stripe::Program& program, const stripe::Block& block,
                                     stripe::Block candidate);

}  // namespace stria::passes
