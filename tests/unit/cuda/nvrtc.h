// SPDX-License-Identifier: Apache-2.0
// The run-time compiler of CUDA C++, opened where it is installed.
#pragma once

#include <string>

#include "stria/base/status.h"

namespace stria::nvrtc {

// "" or why there is no compiler here.
const std::string& why_missing();
// Compiles to PTX, by default for compute capability 9.0; for "sm_90" to machine code too. Fails
// with the compiler's log.
Result<std::string> compile(const std::string& source,
                            const std::string& architecture = "compute_90");

}  // namespace stria::nvrtc
