// SPDX-License-Identifier: Apache-2.0
// How OpenCL C spells the kernel tree.
#pragma once

#include "stria/semtree/c/program_source.h"

namespace stria::opencl {

// What a device's compiler offers beyond the minimum of OpenCL C 1.2.
struct Features {
  bool fp64 = false;
  bool fma = false;   // a fused multiply-add is as fast as the two
  bool mma = false;   // matrix instructions of PTX in inline assembly
  bool fp16 = false;  // arithmetic on half: fp16 is widened by its type instead of through memory
  // The program asked for it: functions of fp32 as the hardware has them, with an error that the
  // device defines; and a product and a sum rounded as is fastest.
  bool fast_math = false;
};

// A program that builds if there is arithmetic on half: some drivers have it and do not say so.
extern const char* const kHalfProbe;

// If this macro is defined, accesses to tensors need not be aligned.
inline constexpr const char* kAnyOffset = "STRIA_ANY_OFFSET";

semtree::Dialect dialect(const Features& features);

// What the language allows of vectors: 2, 4, 8 and 16 lanes.
semtree::SourceOptions source_options();

}  // namespace stria::opencl
