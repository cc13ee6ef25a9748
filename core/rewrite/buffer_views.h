// SPDX-License-Identifier: Apache-2.0
// Layouts of buffers, and the changes of all views that must follow a new layout or location.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// The dimensions by the magnitude of their stride, outermost first; equal ones keep their order.
std::vector<size_t> order_by_stride(const std::vector<Dim>& dims);

// Dense strides with the dimensions in this order, outermost first.
std::vector<Dim> dense_in_order(std::vector<Dim> dims, const std::vector<size_t>& order);

// Dense strides with the dimension `inner` contiguous, and the others in their old order.
std::vector<Dim> dense_with_inner(const std::vector<Dim>& dims, size_t inner);

// Gives the statement's views of `name`, a refinement of the block around, the strides of `dims`.
void restride_views(stripe::Statement& stmt, const std::string& name, const std::vector<Dim>& dims);

// Gives all views of the block's refinement `name` in the blocks inside the strides of `dims`.
void restride_views(stripe::Block& block, const std::string& name, const std::vector<Dim>& dims);

// Gives the statement's views of `name`, a refinement of the block around, this location. They are
// no longer views of a constant.
void locate_views(stripe::Statement& stmt, const std::string& name,
                  const stripe::Location& location);

}  // namespace stria::passes
