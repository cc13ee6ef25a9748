// SPDX-License-Identifier: Apache-2.0
// Which tensors of a kernel are too large for a memory, so that prefetching them pays.
#pragma once

#include <set>
#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// May the view be prefetched? It must not be an allocation, aggregate or have a swizzle.
bool can_be_fetched(const stripe::Refinement& ref);

// `percent` of one instance of the memory; 0 without such a unit.
double bytes_of(const HardwareModel& model, const std::string& memory, int64_t percent);

// The kernel's names of views that can be prefetched and through which it touches at least `least`
// bytes.
std::set<std::string> large_views(const stripe::Block& kernel, double least);

// The block's names for the refinements that the block around it calls `names`.
std::set<std::string> seen_inside(const stripe::Block& block, const std::set<std::string>& names);

}  // namespace stria::passes
