// SPDX-License-Identifier: Apache-2.0
// Names that a program may give and that mean something to a language, a library, a header or our
// own code generators: keywords of C, C++, OpenCL C and CUDA C++, their functions, types and
// macros, symbols of the C library, our helper functions, and names that only look like one
// another. hostile_names.txt lists them.
#pragma once

#include <string>
#include <vector>

namespace stria::kernels {

const std::vector<std::string>& hostile_names();

}  // namespace stria::kernels
