// SPDX-License-Identifier: Apache-2.0
// The instructions of compute capability 9.0a that roles_source.cc uses, as functions of the
// source.
#pragma once

#include <cstdint>
#include <string>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::cuda {

// What each lane has when a kernel of three warp groups begins: 65536 / 384, in steps of 8.
inline constexpr int64_t kRegistersAtFirst = 168;

// wgmma.m64nNk16: halves from shared memory, sums in fp32, both operands with their rows along k.
struct Wgmma {
  int64_t columns = 0;  // N, 8 to 256 in steps of 8
};
// unsupported for any other name.
Result<Wgmma> find_wgmma(const std::string& name);

// Do the owners say which lane has which sum as the instruction leaves them?
bool holds_sums(const stripe::Refinement& sums);

// What stands at the top of every source: barriers, copies, descriptors, halves.
std::string hopper_preamble();
// stria_product_N(sums, left, right).
std::string wgmma_function(int64_t columns);

}  // namespace stria::cuda
