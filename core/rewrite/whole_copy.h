// SPDX-License-Identifier: Apache-2.0
// Kernels that only copy a part of one tensor to the whole of another one, possibly with the
// dimensions in another order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// target[x] = source[y] for every element x of the target.
struct WholeCopy {
  std::string source, target;  // refinements of the block around
  // For each dimension p of the source: y[p] = offset[p] + x[dim[p]], or offset[p] if dim[p] is -1.
  // A dimension of the target that does not occur has one element.
  std::vector<int> dim;
  std::vector<int64_t> offset;
  // Every element of the source is copied once, and the target can replace it everywhere.
  bool whole_source = false;
};

// The copy that `kernel`, a statement of `around`, makes; nullopt if it makes none. The values must
// arrive bit for bit. A sum from 0 is no copy, since it makes 0.0 of -0.0.
std::optional<WholeCopy> whole_copy(const stripe::Block& kernel, const stripe::Block& around);

// Makes the views of the copy's target in `block`, a leaf, views of the source, which has the shape
// `source`.
void view_source(stripe::Block& block, const WholeCopy& copy, const TensorShape& source);

// Makes the views of the copy's source in `block`, a leaf, views of the target, which has the shape
// `target`. The source must be copied whole.
void view_target(stripe::Block& block, const WholeCopy& copy, const TensorShape& target);

// A view of one element of a tensor, for a kernel in the block that has the tensor as
// `tensor.into`. It has the same name, and its access is still to be set.
stripe::Refinement element_view(const stripe::Refinement& tensor, stripe::RefDir dir);

// A kernel without indices that stores what it loads. `from` and `to` are views of one element
// each.
stripe::Block copy_kernel(std::string name, stripe::Refinement from, stripe::Refinement to);

}  // namespace stria::passes
