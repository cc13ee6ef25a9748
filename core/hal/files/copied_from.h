// SPDX-License-Identifier: Apache-2.0
// A plugin's project is built into a folder that has copies of its JSON files. Who made a mistake
// in one of them must edit the source, so messages name that one.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace stria::hal {

// How messages name `file` of a plugin's `directory`, whose bytes are `text`: the source that it is
// a copy of, if that has the same bytes, else the file itself. A build writes the folder of the
// sources into `directory`/copied_from.txt (stria_add_plugin does); what is installed has none.
std::filesystem::path file_to_edit(const std::filesystem::path& directory,
                                   const std::filesystem::path& file, std::string_view text);
// The same of the file as it is now.
std::filesystem::path file_to_edit(const std::filesystem::path& directory,
                                   const std::filesystem::path& file);

// The sources of JSON files of a plugin's `directory` that were edited after the last build: newer
// than their copies, with other bytes. Sorted.
std::vector<std::filesystem::path> edited_since_build(const std::filesystem::path& directory);

}  // namespace stria::hal
