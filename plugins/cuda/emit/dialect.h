// SPDX-License-Identifier: Apache-2.0
// How CUDA C++ spells the kernel tree: C++17 that NVRTC compiles without a header, from compute
// capability 8.0 on.
#pragma once

#include "stria/semtree/c/program_source.h"

namespace stria::cuda {

semtree::Dialect dialect();

// Vectors of 2, 4, 8 and 16 lanes, which are loaded and stored at once where the language can.
semtree::SourceOptions source_options();

// What stands at the top of every source: vectors, conversions, integer helpers. Constant.
const char* preamble();

}  // namespace stria::cuda
