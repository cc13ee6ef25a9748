// SPDX-License-Identifier: Apache-2.0
// All plugins of a process: where they are looked for, in which order, and what became of each. A
// bad plugin gets a verdict and never stops the others.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/plugin.h"

namespace stria::hal {

// A folder to look in: a plugin's own directory, or a folder of such directories.
struct SearchPlace {
  std::filesystem::path path;
  std::string origin;     // "API", "STRIA_PLUGIN_PATH", "user", "beside the executable",
                          // "beside the library"
  bool required = false;  // missing is worth a verdict
};

struct SearchOptions {
  std::vector<std::filesystem::path> paths;  // looked in first
  bool only_paths = false;                   // look nowhere else
  // Empty, or the ids to load; the others are neither loaded nor listed.
  std::vector<std::string> only_ids;
  std::map<std::string, std::string> driver_options;  // plugin id -> JSON object
  // For each step in which code of a plugin runs: a plugin that hangs costs this much and no more.
  // Devices are listed at once, so hangs there do not add up.
  std::chrono::milliseconds time_limit = kTimeLimit;
  // How plugins that have not been seen to behave are tried first. The time limit is that of above.
  ProbeOptions probe;
  // Who reads messages about plugins; those in a place of the user's (is_own_place) are for their
  // author anyway.
  Reader reader = Reader::user;
  // As in LoadOptions.
  QueryFunction stand_in;
  const void* driver_extensions = nullptr;
  // Told each verdict at once, for who must know how far a plugin came when it ends the process.
  std::function<void(const Verdict&)> on_verdict;
};

// A plugin's directory, as it was found.
struct FoundPlugin {
  std::filesystem::path directory;
  std::string origin;
  Status search;  // why there is no directory to look at
};

// Whether plugins found there are the user's own work: $STRIA_PLUGIN_PATH and the user's folder.
bool is_own_place(std::string_view origin);

// In order: options.paths, $STRIA_PLUGIN_PATH (colon-separated), ~/.local/lib/stria/plugins,
// <folder of the executable>/../lib/stria/plugins, and the same beside libstria where this code is
// part of that. In an elevated process the environment and the user's folder are left out.
std::vector<SearchPlace> search_places(const SearchOptions& options);
// The plugin directories of these places, in order: each once, nothing of them read.
std::vector<FoundPlugin> find_plugins(const SearchOptions& options);

struct PluginRecord {
  std::filesystem::path directory;
  std::string origin;
  std::string id;         // the manifest's, or the directory's name if that could not be read
  bool isolated = false;  // SearchOptions::stand_in stands for it
  std::vector<Verdict> verdicts;
  Plugin plugin;                    // valid if it could be loaded and does not hang
  std::vector<DeviceInfo> devices;  // of the last enumeration
  // Ok, or the first failed step's status.
  Status status() const;
};

class PluginSet {
 public:
  // Finds, checks and loads all plugins and lists their devices. The first plugin with an id that
  // works wins; a later one gets a verdict that names it.
  static PluginSet load(const std::shared_ptr<Host>& host, const SearchOptions& options = {});

  // In search order, broken ones included.
  const std::vector<PluginRecord>& records() const { return records_; }
  // The working plugin with that id; not_found with the nearest name, or what is wrong with it.
  Result<Plugin> find(std::string_view id) const;
  // Shuts all down, in reverse order; the first failure after trying all.
  Status shutdown();

 private:
  std::vector<PluginRecord> records_;
};

}  // namespace stria::hal
