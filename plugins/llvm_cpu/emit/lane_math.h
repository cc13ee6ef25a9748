// SPDX-License-Identifier: Apache-2.0
// Functions of mathematics for fp32 lanes as straight-line code for processors with fused
// multiply-adds. A call, of which there are versions for vectors, keeps no vector in a register;
// here they stay, and several vectors overlap.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace stria::llvm_cpu {

// e^x of a multiple of 16 lanes, for AVX-512; off by 0.99 ULP at most over all numbers, denormal
// results among them. NaN gives NaN.
llvm::Value* exp_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x);
// The hyperbolic tangent of any lanes; off by 3.38 ULP at most over all numbers. NaN gives NaN.
llvm::Value* tanh_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace stria::llvm_cpu
