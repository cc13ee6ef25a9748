// SPDX-License-Identifier: Apache-2.0
// Bytes that come into a cache and go out of it while a kernel runs. A cache is taken to keep what
// the innermost loops touch together, as far as it fits.
#pragma once

#include <functional>

#include "stria/cost/kernel/kernel_nest.h"

namespace stria::cost {

struct KernelTraffic {
  double read_bytes = 0, written_bytes = 0;
  double streamed_bytes = 0;  // written past the caches
  double bytes() const { return read_bytes + written_bytes + streamed_bytes; }
};

// What moves into a cache of `capacity` bytes with lines of `line_bytes`, and out of it, while all
// points of the kernel run. `units`: so many of them run points beside each other, each with a
// cache of its own; 1: they share it. Views of the tensors that `is_behind` names count.
//
// Rule: the box of the innermost loops is brought once, lines that views share once; a loop widens
// the box if all that one of its points touches fits, and repeats it if not.
KernelTraffic traffic_of(const KernelNest& nest, double capacity, int64_t line_bytes, double units,
                         const std::function<bool(const NestTensor& tensor)>& is_behind);

}  // namespace stria::cost
