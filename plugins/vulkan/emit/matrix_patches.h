// SPDX-License-Identifier: Apache-2.0
// Matrices that cannot go straight between registers and memory, as other statements of the tree.
//
// * Tensors, or rows, that begin at any multiple of their elements' size: Vulkan demands that a
//   matrix in memory, and each of its rows, begins at a multiple of 16 bytes.
// * Matrices of which memory has only some rows and columns. Where it has all, they go straight.
// * Elements of one type in memory and of another one in registers. The device converts a whole
//   matrix if it has such matrices of both types, and then as its hardware rounds; else lanes do.
//
// Such a matrix goes by way of a patch: memory that the lanes of a group share, in which each
// subgroup has room for one matrix. Matrix operations move it between registers and the patch, and
// lanes move, convert and round its elements between the patch and where they are to be. Patches
// lie over the other arrays that are shared, if these are not used any more.
//
// Where the device converts to halves in whole matrices, but promises nothing of how it rounds,
// numbers are rounded to halves in registers first: then there is nothing to round. So it is with
// bf16, if the device has sums of it.
#pragma once

#include <cstdint>

#include "emit/features.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

// `any_offset`: where tensors begin is not known. A function that holds no such matrices is as
// before; so is one without subgroups, which the checks refuse (group_check.h).
semtree::Function through_patches(semtree::Function function, const Features& features,
                                  int64_t subgroup_lanes, bool any_offset);

}  // namespace stria::vulkan
