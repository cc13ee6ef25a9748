// SPDX-License-Identifier: Apache-2.0
// The files that this code runs from: what belongs to it is found beside them.
#pragma once

#include <filesystem>
#include <string_view>

namespace stria::hal {

// The file that this process runs; "" if the system does not say.
std::filesystem::path own_executable();

// The shared library that this code was linked into; "" if that is the executable itself.
std::filesystem::path own_library();

// The program of the package with that name, beside either of them (../lib/stria/NAME); "" if there
// is none.
std::filesystem::path own_program(std::string_view name);

}  // namespace stria::hal
