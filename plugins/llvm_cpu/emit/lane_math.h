// SPDX-License-Identifier: Apache-2.0
// Functions of mathematics for fp32 lanes as straight-line code for AVX-512, whose 32 registers hold
// their constants beside what a loop needs. A call, of which there are versions for vectors, keeps no
// vector in a register; here they stay, and several vectors overlap.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace stria::llvm_cpu {

// Vectors have a multiple of so many lanes, and the processor has vectors of 64 bytes.
inline constexpr int kLanesOfMath = 16;

// e^x, off by 0.99 ULP at most over all numbers, denormal results among them. NaN gives NaN.
llvm::Value* exp_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x);
// The hyperbolic tangent, off by 3.38 ULP at most over all numbers. NaN gives NaN.
llvm::Value* tanh_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace stria::llvm_cpu
