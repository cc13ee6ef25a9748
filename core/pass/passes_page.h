// SPDX-License-Identifier: Apache-2.0
// The reference page of passes, docs/passes.md, made of what the passes say of themselves.
#pragma once

#include <string>
#include <vector>

#include "stria/pass/pipeline.h"

namespace stria {

// Markdown: for each pass its sentence and a table of its options.
std::string passes_page(const std::vector<PassInfo>& passes);

}  // namespace stria
