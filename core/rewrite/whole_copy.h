// SPDX-License-Identifier: Apache-2.0
// Kernels that do nothing but copy a part of one tensor to all of another, dimensions perhaps in
// another order.
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
  // Of each dimension p of the source: y[p] = offset[p] + x[dim[p]], or offset[p] where dim is -1.
  // A dimension of the target that occurs in none has one element.
  std::vector<int> dim;
  std::vector<int64_t> offset;
  // Every element of the source is copied, once, and the target can stand for it everywhere.
  bool whole_source = false;
};

// `kernel`, a statement of `around`, as such a copy, if it is one: the values arrive bit by bit as
// they are. A sum from 0 is none: it makes 0.0 of -0.0.
std::optional<WholeCopy> whole_copy(const stripe::Block& kernel, const stripe::Block& around);

// Makes the views in `block`, a leaf, of the copy's target views of the source, whose strides are
// `source`.
void view_source(stripe::Block& block, const WholeCopy& copy, const TensorShape& source);

// Makes the views in `block`, a leaf, of the copy's source, which must be copied whole, views of
// the target, whose strides are `target`.
void view_target(stripe::Block& block, const WholeCopy& copy, const TensorShape& target);

// One element of a tensor at a time, for a kernel in the block that has it as `tensor.into`: a
// plain view of that name whose access is to be set.
stripe::Refinement element_view(const stripe::Refinement& tensor, stripe::RefDir dir);

// A kernel without indices that stores what it loads: `from` and `to` are views of one element
// each.
stripe::Block copy_kernel(std::string name, stripe::Refinement from, stripe::Refinement to);

}  // namespace stria::passes
