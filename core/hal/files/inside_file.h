// SPDX-License-Identifier: Apache-2.0
// Files that a plugin's folder names stay in it. A name is checked when it is written in a
// manifest, and the file again each time it is opened: it may have become a link since.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria::hal {

// Ok if `file` of `directory` is a regular file that lies in it once links are followed; not_found
// or permission_denied if not. `who` names it in messages.
Status check_inside(const std::filesystem::path& directory, const std::filesystem::path& file,
                    std::string_view who);

// The bytes of such a file. What is looked at is the opened file, so that nothing can be put in its
// place in between. invalid_argument beyond `max_bytes`.
Result<std::string> read_inside(const std::filesystem::path& directory,
                                const std::filesystem::path& file, size_t max_bytes,
                                std::string_view who);

}  // namespace stria::hal
