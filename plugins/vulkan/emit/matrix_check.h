// SPDX-License-Identifier: Apache-2.0
// What matrices that a subgroup holds need of a device, and how they lie in memory.
#pragma once

#include <cstdint>

#include "emit/features.h"
#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

// Lanes of the subgroups that hold matrices together; 0: none do on this device. `subgroup_lanes`:
// what every pipeline is built with; 0: the driver chooses it.
int64_t matrix_lanes(const Features& features, int64_t subgroup_lanes);

// The rows of a matrix in memory, or its columns: whichever lie there in one piece.
struct MatrixLines {
  bool are_rows = true;
  int64_t stride = 0;  // from line to line, in elements; 0: all are the same
  // Vulkan demands that address and stride are multiples of so many bytes: a line's, 16 at most.
  int64_t aligned_bytes = 0;
};
MatrixLines lines_of(const semtree::MatrixPlace& place, const semtree::Array::Fragment& form,
                     DataType type);

// Are address and stride such multiples, for all that is known?
bool is_aligned(const semtree::MatrixPlace& place, const semtree::Array::Fragment& form,
                DataType type);

// unsupported, naming the matrix, what is wrong and the device, if the device has no such products
// or matrices, or if they lie in memory as Vulkan does not allow.
Status check_matrices(const semtree::Function& function, const Features& features);

}  // namespace stria::vulkan
