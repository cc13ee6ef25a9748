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

// `text` with the templates' name in place of which `name` stands: acme, Acme and ACME become
// my_npu, MyNpu and MY_NPU.
std::string with_plugin_name(std::string_view text, const std::string& name);

}  // namespace stria::command
