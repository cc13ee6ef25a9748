// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stria {

// core/edsl/functions.h: a C++ function for each record of core/builtins, so that none is missed.
std::string functions_header();

}  // namespace stria
