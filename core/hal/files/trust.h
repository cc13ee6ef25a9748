// SPDX-License-Identifier: Apache-2.0
// Which plugin files may be loaded into this process.
#pragma once

#include <filesystem>

#include "stria/base/status.h"
#include "stria/hal/files/manifest.h"

namespace stria::hal {

// Ok if the plugin's directory and everything in it belong to root or to the user and nobody else
// may write them; otherwise permission_denied with the path, its owner or mode, and the command
// that would mend it. Parents of the directory are not looked at. Links are not followed:
// read_manifest() has seen that what it names lies in the directory.
Status check_trust(const std::filesystem::path& directory);

// Ok if every file pinned by the manifest has the contents it says; data_loss with both hashes if
// not.
Status check_hashes(const std::filesystem::path& directory, const Manifest& manifest);

// True if the process runs with rights its starter may lack (set-user-id, capabilities).
bool is_elevated();

}  // namespace stria::hal
