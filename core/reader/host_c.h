// SPDX-License-Identifier: Apache-2.0
// How C11 spells the kernel tree, for compilers that know gcc's built-in functions (gcc and clang)
// on 64-bit machines. A kernel is a function that runs a range of its parallel points. Values are
// scalars: lanes of vectors run as loops, which such a compiler turns into vectors itself.
#pragma once

#include <set>
#include <string>

#include "stria/semtree/c/program_source.h"

namespace stria::reader {

// Every device's rules of arithmetic (docs/semantics.md) hold if the text is compiled without
// options that relax floating-point arithmetic, such as -ffast-math.
const semtree::Dialect& host_c();

semtree::BuildOptions host_c_options();

// The variables through which kernels call the plugin's functions, `stria_micro_SYMBOL`.
std::string micro_kernel_variables(const std::set<std::string>& symbols);

// A function that others can call without knowing the kernel's parameters:
// `void SYMBOL(void* const* arguments, int64_t first, int64_t end)`.
std::string entry_point(const std::string& symbol, size_t parameters);

}  // namespace stria::reader
