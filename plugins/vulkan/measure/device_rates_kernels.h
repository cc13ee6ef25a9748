// SPDX-License-Identifier: Apache-2.0
// Device Stripe of the kernels that measure a device. All tensors are fp32; R is what a kernel
// writes, the others are read and may all be the same memory, full of zeros.
#pragma once

#include <cstdint>
#include <string>

namespace stria::vulkan {

// Multiply-adds of one lane of `multiply_add`, and of `beside`: there each needs the one before.
inline constexpr int64_t kLaneMultiplyAdds = 16384;
inline constexpr int64_t kChainMultiplyAdds = 25600;
// Lanes of a group of `multiply_add`, and of a group where the compiler makes them smaller.
inline constexpr int64_t kGroupPointsOfRates = 256;

// Two kernels. "multiply_add": kLaneMultiplyAdds in registers, in chains that do not need each
// other, for each of groups * kGroupPointsOfRates lanes. "small": one group that does next to
// nothing.
std::string rates_text(int64_t groups);

// Kernels "beside": the n-th one, from 1 on, has n * units groups of `lanes` lanes. Each group has
// `elements` elements of local memory, a multiple of `lanes`, and each lane of it a chain of
// kChainMultiplyAdds.
std::string beside_text(int64_t units, int64_t lanes, int64_t elements, int64_t most);

// Elements of the largest tensor that either reads, and that it writes.
inline constexpr int64_t kReadElements = 4096;
inline int64_t written_elements(int64_t groups) { return groups * kGroupPointsOfRates; }

}  // namespace stria::vulkan
