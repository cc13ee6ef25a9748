// SPDX-License-Identifier: Apache-2.0
// The reference page of Tile's functions, docs/builtins.md, made of their records.
#pragma once

#include <string>

namespace stria {

// Markdown: every builtin, special and composite. Special values are those that the records'
// reference functions give.
std::string builtins_page();

}  // namespace stria
