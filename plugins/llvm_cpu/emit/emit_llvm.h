// SPDX-License-Identifier: Apache-2.0
// Kernel tree -> LLVM IR, statement by statement. Vectors are explicit; nothing here is specific to
// one CPU but the names of the vector mathematics library.
#pragma once

#include <string>
#include <vector>

#include "stria/semtree/tree/tree.h"

namespace llvm {
class Module;
}

namespace stria::llvm_cpu {

struct EmitOptions {
  bool fast_math = false;
  // Widest vector register in bytes: 64, 32 or 16.
  int vector_bytes = 64;
  // Whether functions such as _ZGVeN16v_expf may be called.
  bool vector_math = false;
};

// Adds to `module` a function `void symbol(ptr args, i64 first, i64 last)` as CompiledKernel::entry
// describes it. Functions that it calls stay external; math_symbols lists all that can occur.
void emit_function(const semtree::Function& function, const std::string& symbol,
                   const EmitOptions& options, llvm::Module& module);

// Names of all scalar functions of the C library that emitted code may call ("expf", "pow").
std::vector<std::string> math_symbols();
// Names of all functions of the vector mathematics library that code for such registers may call.
std::vector<std::string> vector_math_symbols(int vector_bytes);

}  // namespace stria::llvm_cpu
