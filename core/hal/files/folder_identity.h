// SPDX-License-Identifier: Apache-2.0
// What tells whether files are still those that somebody has looked at: as they lie on the disk,
// without reading them. A plugin has hundreds of megabytes, and a change of a file's status cannot
// be forged.
#pragma once

#include <filesystem>
#include <string>

namespace stria::hal {

// A line with the path, where it is, its size and its times; "… missing" if there is none.
std::string file_line(const std::filesystem::path& file);
// A line for each file in the folder and below it, by its path from there: the folder may be called
// by several names.
std::string folder_lines(const std::filesystem::path& folder);

}  // namespace stria::hal
