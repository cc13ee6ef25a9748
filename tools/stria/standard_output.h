// SPDX-License-Identifier: Apache-2.0
// Results go to stdout. Whoever reads them must learn if not all of them came.
#pragma once

#include <cstdio>

namespace stria::command {

// Has everything that was printed so far been taken? Writes what is still in the buffer first.
inline bool is_written(std::FILE* stream) {
  return std::fflush(stream) == 0 && std::ferror(stream) == 0;
}

constexpr const char* kUnwritable = "stdout did not take all that was printed";

}  // namespace stria::command
