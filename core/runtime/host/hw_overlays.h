// SPDX-License-Identifier: Apache-2.0
// Which overlays (hwmodel/model_overlay.h) refine the model of a device: those of the plugin, then
// those of the user's folder, then those that were asked for. A later one wins.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria {

// $STRIA_HW_DIR, where `stria calibrate` writes; else stria/hw in $XDG_CONFIG_HOME, or in
// ~/.config. "": there is none, as for an elevated process, or the variable is empty.
std::filesystem::path user_hw_folder();

// The files NAME.json of a folder, by name; none if there is no such folder.
Result<std::vector<SourceText>> read_overlays(const std::filesystem::path& folder);

// Of the plugin's own and the user's, those that cover the device; then `given`, each of which must
// cover it (invalid_argument: the numbers are another machine's). A file that cannot be read, or is
// no overlay, fails with its name: nobody should measure or choose by half of what is there.
Result<std::vector<SourceText>> hw_overlays(const std::filesystem::path& plugin_folder,
                                            std::string_view plugin, std::string_view device,
                                            const std::vector<std::filesystem::path>& given);

}  // namespace stria
