// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stria::reader_test {

// The kernels of a program with their arguments and points, or why there are none; then the C of
// those that it can say.
std::string describe(const std::string& text);

}  // namespace stria::reader_test
