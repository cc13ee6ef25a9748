// SPDX-License-Identifier: Apache-2.0
// What has to follow when a buffer gets another layout.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// The dimensions by stride, either sign, outermost first; equal ones as they stand.
std::vector<size_t> order_by_stride(const std::vector<Dim>& dims);

// Dense strides with the dimensions in this order, outermost first.
std::vector<Dim> dense_in_order(std::vector<Dim> dims, const std::vector<size_t>& order);

// Dense strides with dimension `inner` contiguous and the others in the order that they have.
std::vector<Dim> dense_with_inner(const std::vector<Dim>& dims, size_t inner);

// Gives the views of the refinement `name` of the block around the statement the strides of `dims`.
void restride_views(stripe::Statement& stmt, const std::string& name, const std::vector<Dim>& dims);

// Gives all views of the block's refinement `name`, in the blocks inside, the strides of `dims`.
void restride_views(stripe::Block& block, const std::string& name, const std::vector<Dim>& dims);

// Gives all views of the refinement `name` around the statement this location; they are no views of
// a constant any more.
void locate_views(stripe::Statement& stmt, const std::string& name,
                  const stripe::Location& location);

}  // namespace stria::passes
