// SPDX-License-Identifier: Apache-2.0
// The run path of a shared object: folders in which the loader looks for what it is linked with,
// before the system's own.
#pragma once

#include <filesystem>
#include <string>

namespace stria::conformance {

// What is wrong with an entry of the run path of `library`, a shared object in the plugin's folder
// `directory`, in words; "" if nothing is. Wrong is what lets others decide which code is loaded.
std::string run_path_fault(const std::string& entry, const std::filesystem::path& library,
                           const std::filesystem::path& directory);

}  // namespace stria::conformance
