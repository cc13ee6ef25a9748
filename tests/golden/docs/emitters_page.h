// SPDX-License-Identifier: Apache-2.0
// The made part of docs/emitters.md: the table of peepholes.
#pragma once

#include <string>

#include "stria/base/result.h"

namespace stria {

// invalid_argument if the page has no place for the table.
Result<std::string> emitters_page(const std::string& page);

}  // namespace stria
