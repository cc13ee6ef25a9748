// SPDX-License-Identifier: Apache-2.0
// The types of a block's scalars ($name), which its statements determine: a load gives its
// refinement's element type, a constant and load_index their own, an intrinsic the type it prints
// except comparisons and logic, whose result is bool.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stria/stripe/block.h"

namespace stria::stripe {

// Result type of the intrinsic `name` computed in `type`: bool for cmp_* and logical_*, else
// `type`.
DataType intrinsic_result_type(std::string_view name, DataType type);

// Scalar -> type for every scalar that the block's statements define. A load from an unknown
// refinement is left out.
std::map<std::string, DataType> scalar_types(const Block& block);

}  // namespace stria::stripe
