// SPDX-License-Identifier: Apache-2.0
// Random tensors for trying programs: the same numbers on every machine, whatever its math library,
// threads or vector width, because element i depends on the seed and i alone and only operations
// that IEEE 754 fixes exactly are used.
//
//   word(i) = mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15), mix = the finaliser of SplitMix64
//             (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014)
//   bool:     word(i) >> 63
//   unsigned: word(i) >> 60, uniform in 0..15
//   integer:  (word(i) >> 60) - 8, uniform in -8..7
//   float:    N(0, 1) by Box and Muller: with u = ((word(i) >> 11) + 1) * 2^-53 of the even element
//             of the pair and v = (word(i) >> 11) * 2^-53 of the odd one, the pair is
//             sqrt(-2 ln u) * (cos 2 pi v, sin 2 pi v), in binary64 with the polynomials of
//             random.cc, rounded once to the element type, ties to even
//   i2, u2:   the lowest bits of these integers
#pragma once

#include <cstdint>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/host_tensor.h"

namespace stria {

// Fails only where HostTensor::create does; `what` names the tensor in messages.
Result<HostTensor> random_tensor(DataType type, const std::vector<int64_t>& sizes, uint64_t seed,
                                 std::string_view what);

}  // namespace stria
