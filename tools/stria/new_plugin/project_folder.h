// SPDX-License-Identifier: Apache-2.0
// Writes a folder of files whole or not at all.
#pragma once

#include <filesystem>
#include <span>

#include "new_plugin/project_template.h"
#include "stria/base/status.h"

namespace stria::command {

// Writes into a folder of its own beside `folder`, which then gets the name. What is there already
// stays, and is an error. A failure leaves nothing behind, and names the path and the cause.
Status write_project(const std::filesystem::path& folder, std::span<const ProjectFile> files);

}  // namespace stria::command
