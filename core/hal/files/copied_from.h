// SPDX-License-Identifier: Apache-2.0
// A plugin's project is built into a folder that has copies of its JSON files. Who made a mistake in
// one of them must edit the source, so messages name that one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stria::hal {

// How messages name `file` of a plugin's `directory`, whose bytes are `text`. A build writes the
// folder of the sources into `directory`/copied_from.txt (stria_add_plugin does); what is installed
// has none. The source's path if it has the same bytes; else the path of the copy, which says so if
// the source is newer.
std::string name_to_edit(const std::filesystem::path& directory, const std::filesystem::path& file,
                         std::string_view text);

}  // namespace stria::hal
