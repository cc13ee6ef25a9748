// SPDX-License-Identifier: Apache-2.0
// A prototype: CUDA C++ for device programs of roles, bulk copies, barriers with phases and matrix
// units that complete later (docs/semantics.md, S16 to S18), for compute capability 9.0a. It
// translates and decides nothing: what it cannot say is refused by name. The kernel tree
// (core/semtree) does not know these words yet; this shows that they are enough.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::cuda {

// A tensor that bulk copies read: the kernel's parameter of that place is its map, a CUtensorMap of
// rank 2, tiled, with a swizzle of 128 bytes.
struct TensorMap {
  std::string tensor;
  std::array<int64_t, 2> sizes{};  // of the tensor, in elements, innermost first
  int64_t row_bytes = 0;           // from row to row
  std::array<int64_t, 2> box{};    // of a copy, in elements, innermost first
};

struct RolesSource {
  std::string name;  // of the kernel
  std::string text;  // all of it: NVRTC needs no header
  std::array<int64_t, 3> grid{1, 1, 1};
  int64_t threads = 0;
  int64_t shared_bytes = 0;           // dynamic
  std::vector<TensorMap> maps;        // the first parameters
  std::vector<std::string> pointers;  // tensors that follow, as pointers
};

// The one kernel of the program. unsupported: what has no instruction here, with the block's path.
Result<RolesSource> print_roles(const stripe::Program& program);

}  // namespace stria::cuda
