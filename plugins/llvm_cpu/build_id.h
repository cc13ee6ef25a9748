// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stria::llvm_cpu {

// The linker's identification of the shared object or program that this function is in, in
// hexadecimal: another one for other code. "" if it was linked without.
std::string build_id();

}  // namespace stria::llvm_cpu
