// SPDX-License-Identifier: Apache-2.0
// Which results are right on a device that takes subnormal numbers for zero (rule M23).
#pragma once

#include <functional>
#include <vector>

#include "float_format.h"
#include "stria/type/flushed_types.h"

namespace stria::precision {

bool is_subnormal(DataType type, Exact x);

// A call of a function on operands of these types.
struct FlushedCall {
  std::function<Exact(const Exact*)> exact;
  std::vector<DataType> operands;
  DataType result = DataType::fp32;
  double bound = 0;  // in ULP
};

// Is `got` within the bound for the operands x as given, or for operands of which any subnormal
// ones are zero with their sign? Where such an exact result, less the bound, is subnormal, any
// number that small is right, but for a zero of operands that are not subnormal. Everything else is
// held to the bound as on all devices.
bool is_right_if_flushed(const FlushedCall& call, FlushedTypes flushed, const Exact* x, Exact got);

}  // namespace stria::precision
