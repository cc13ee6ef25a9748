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

// A cache, as a kernel sees it.
struct KernelCache {
  double capacity = 0;  // bytes; 0: nothing stays
  int64_t line_bytes = 1;
  int64_t ways = 0, sets = 1;  // ways 0: a line may lie anywhere
  // So many units run points beside each other, each with a cache of its own; 1: they share it.
  double units = 1;
  // Lines that go by until memory that lies in a row comes at its full rate; they count as moved.
  double run_lines = 0;
};

// What moves into the cache, and out of it, while all points of the kernel run. Views of the
// tensors that `is_behind` names count.
//
// Rule: the box of the innermost loops is brought once, lines that views share once; a loop widens
// the box if all that one of its points touches fits, and the box has places in the sets; it
// repeats the box if not.
KernelTraffic traffic_of(const KernelNest& nest, const KernelCache& cache,
                         const std::function<bool(const NestTensor& tensor)>& is_behind);

}  // namespace stria::cost
