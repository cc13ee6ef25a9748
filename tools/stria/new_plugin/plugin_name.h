// SPDX-License-Identifier: Apache-2.0
// The name of a new plugin: which are legal, and how it is spelled in code.
#pragma once

#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria::command {

// No longer: it stands in names of files, functions and macros.
inline constexpr size_t kMaxPluginNameBytes = 32;

// Refuses what is no [a-z][a-z0-9_]*, too long, or means something else in C, C++ or Rust or in
// stria's own headers.
Status check_plugin_name(const std::string& name);

// An identifier of `text` that is there twice under the name: what has the templates' name in it
// would be spelled as something else that is there. For the name "launch", acme_work becomes
// launch_work, which a text may have already. Empty if there is none.
std::string identifier_taken(std::string_view text, const std::string& name);

// `text` with the templates' name in place of which `name` stands: acme, Acme and ACME become
// my_npu, MyNpu and MY_NPU.
std::string with_plugin_name(std::string_view text, const std::string& name);

}  // namespace stria::command
