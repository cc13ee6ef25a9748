// SPDX-License-Identifier: Apache-2.0
// Which allocations of a #placed kernel lie in one array that the lanes of a group share. Those
// whose bytes overlap do, if they have one element type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "stria/base/result.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

// An allocation's part of an array.
struct SharedPart {
  int array = 0;      // number of the array; each has several allocations
  int64_t count = 0;  // elements of the array
  int64_t first = 0;  // the element of the array with which the allocation begins
};

// By allocation; one that shares no bytes is left out. Fails if an allocation begins inside an
// element.
Result<std::map<const stripe::Refinement*, SharedPart>> shared_parts(const stripe::Block& kernel);

}  // namespace stria::semtree
