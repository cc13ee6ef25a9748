// SPDX-License-Identifier: Apache-2.0
// Results go to stdout: whoever reads them must hear that not all of them came.
#pragma once

#include <cstdio>

namespace stria::command {

// Whether everything printed so far has been taken; what is still in the buffer is written first.
inline bool is_written(std::FILE* stream) {
  return std::fflush(stream) == 0 && std::ferror(stream) == 0;
}

constexpr const char* kUnwritable = "stdout did not take all that was printed";

}  // namespace stria::command
