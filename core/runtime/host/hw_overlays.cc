// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/hw_overlays.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/hwmodel/model_overlay.h"

namespace stria {

std::filesystem::path user_hw_folder() {
  if (const char* folder = secure_getenv("STRIA_HW_DIR")) return folder;
  const char* config = secure_getenv("XDG_CONFIG_HOME");
  if (config && config[0] == '/') return std::filesystem::path(config) / "stria" / "hw";
  const char* home = secure_getenv("HOME");
  if (home && home[0] == '/') return std::filesystem::path(home) / ".config" / "stria" / "hw";
  return {};
}

Result<std::vector<SourceText>> read_overlays(const std::filesystem::path& folder) {
  std::vector<SourceText> out;
  if (folder.empty()) return out;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".json") files.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    return invalid_argument("{}: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    STRIA_ASSIGN(std::string text, read_file(file, kMaxJsonBytes));
    out.push_back({file.string(), std::move(text)});
  }
  return out;
}

Result<std::vector<SourceText>> hw_overlays(const std::filesystem::path& plugin_folder,
                                            std::string_view plugin, std::string_view device,
                                            const std::vector<std::filesystem::path>& given) {
  std::vector<SourceText> out;
  for (const std::filesystem::path& folder :
       {plugin_folder / "hw" / "overlays", user_hw_folder()}) {
    STRIA_ASSIGN(std::vector<SourceText> files, read_overlays(folder));
    for (SourceText& file : files) {
      STRIA_ASSIGN(const OverlayTarget target, overlay_target(file));
      if (target.covers(plugin, device)) out.push_back(std::move(file));
    }
  }
  for (const std::filesystem::path& path : given) {
    STRIA_ASSIGN(std::string text, read_file(path, kMaxJsonBytes));
    SourceText file{path.string(), std::move(text)};
    STRIA_ASSIGN(const OverlayTarget target, overlay_target(file));
    if (!target.covers(plugin, device))
      return invalid_argument(
          "{}: it is for the device '{}' of the plugin '{}', not for '{}' of '{}'", file.name,
          shown_name(target.device), shown_name(target.plugin), shown_name(device),
          shown_name(plugin));
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace stria
