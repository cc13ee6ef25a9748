// SPDX-License-Identifier: Apache-2.0
// How much a log line matters. The numbers are part of the C ABI.
#pragma once

#include <cstdint>

namespace stria {

enum class LogLevel : int32_t { debug = 0, info = 1, warning = 2, error = 3 };

}  // namespace stria
