// SPDX-License-Identifier: Apache-2.0
#include "flushed_result.h"

#include <cmath>

namespace stria::precision {
namespace {

Exact size_of(Exact x) { return x < 0 ? -x : x; }
Exact least_normal(DataType type) { return std::ldexp(1.0L, format_of(type).lowest); }

}  // namespace

bool is_subnormal(DataType type, Exact x) {
  return is_float(type) && x != 0 && size_of(x) < least_normal(type);
}

bool is_right_if_flushed(const FlushedCall& call, FlushedTypes flushed, const Exact* x, Exact got) {
  std::vector<size_t> subnormal;
  for (size_t k = 0; k < call.operands.size(); ++k)
    if (flushed.contains(call.operands[k]) && is_subnormal(call.operands[k], x[k]))
      subnormal.push_back(k);
  for (size_t zeros = 0; zeros < size_t{1} << subnormal.size(); ++zeros) {
    Exact seen[3] = {};
    for (size_t k = 0; k < call.operands.size(); ++k) seen[k] = x[k];
    for (size_t i = 0; i < subnormal.size(); ++i)
      if ((zeros >> i & 1) != 0) seen[subnormal[i]] = x[subnormal[i]] < 0 ? -0.0L : 0.0L;
    const Exact exact = call.exact(seen);
    if (!is_float(call.result)) {
      if (got == exact) return true;
      continue;
    }
    if (ulps_apart(call.result, got, exact) <= call.bound) return true;
    if (!flushed.contains(call.result) || (exact == 0 && subnormal.empty())) continue;
    const Exact least = least_normal(call.result);
    const Exact error = call.bound / static_cast<Exact>(units(call.result, least));
    if (size_of(exact) - error < least && size_of(got) < least) return true;
  }
  return false;
}

}  // namespace stria::precision
