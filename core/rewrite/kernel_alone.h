// SPDX-License-Identifier: Apache-2.0
// One kernel of a program as a program of its own, for a device that times it.
#pragma once

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The kernel that `block` is or stands in, with `candidate` in the block's place. All tensors that
// the kernel uses, temporaries of its section too, are inputs and outputs of the new program, with
// the layouts that they have. Constants stay such for a kernel of #main that reads something else
// too. unsupported if the block stands in no kernel.
Result<stripe::Program> kernel_alone(const stripe::Program& program, const stripe::Block& block,
                                     stripe::Block candidate);

}  // namespace stria::passes
