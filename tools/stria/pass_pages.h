// SPDX-License-Identifier: Apache-2.0
// The pages of docs/passes, built in.
#pragma once

#include <string>

namespace stria::command {

// Empty if there is no page for the pass: one that a plugin brings.
std::string pass_page_text(const std::string& pass);

}  // namespace stria::command
