// SPDX-License-Identifier: Apache-2.0
// The way in: finds plugins, lists their devices, opens one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/log_level.h"
#include "stria/base/result.h"
#include "stria/runtime/device.h"
#include "stria/runtime/device_info.h"

namespace stria {

// Plain value.
struct RuntimeOptions {
  // Plugin directories, or folders of them, looked in before $STRIA_PLUGIN_PATH,
  // ~/.local/lib/stria/plugins and lib/stria/plugins beside the executable and beside the library.
  std::vector<std::filesystem::path> plugin_paths;
  bool only_plugin_paths = false;  // look nowhere else
  // Ids of the plugins to load, empty for all; the others are neither loaded nor listed.
  std::vector<std::string> only_plugins;
  std::map<std::string, std::string> plugin_options;  // plugin id -> JSON object for the plugin
  unsigned threads = 0;  // that plugins may use on the host; 0: $STRIA_THREADS, or all usable cores
  // For each step of loading in which code of a plugin runs, for opening a device and for making
  // its compiler: one that hangs costs this much.
  std::chrono::milliseconds plugin_time_limit{5000};
  // A plugin that has not been seen to behave on this machine is tried first in a process of its
  // own (stria_probe, which belongs to the package; without it plugins are loaded at once), so that
  // one that ends its process, or hangs, is listed with that reason and does not end this one.
  bool probe_plugins = true;
  // No wait for a device takes longer; it fails and names the plugin.
  uint64_t wait_limit_ns = kForever;
  // Told of a call into a plugin that takes longer than `wait_limit_ns`: the plugin's id, which of
  // its functions, and how long it has been in there. Its caller cannot be brought back: who must
  // go on ends the process. On a thread of its own; must not drop the last handle of this runtime.
  std::function<void(std::string_view plugin, std::string_view function, double seconds)> on_hang;
  // Lines for people from plugins; empty: dropped. Called from any thread.
  std::function<void(LogLevel, std::string_view)> log;
};

// A plugin that was found. Plain value.
struct PluginInfo {
  std::string id;
  std::filesystem::path directory;
  Status status;  // ok, or why it cannot be used; the other plugins can
};

// A handle; safe from any thread. What came from it outlives it. Several in one process do not
// disturb each other.
class STRIA_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});

  // Both find and load all plugins on the first call and never fail: what is broken is listed so.
  std::vector<PluginInfo> plugins() const;
  // All devices of all working plugins, those not available too, in search order.
  std::vector<DeviceInfo> devices() const;

  // Which device: `plugin` (its first available one), `plugin:N` (the N-th of its list, from 0),
  // `plugin:glob` (the first available one whose name or id matches, letters of either case, with *
  // ? and [a-z]), `auto` (of all available ones that whose hardware model promises the most
  // operations per second; one that cannot be opened is passed over, with a line in the log).
  // invalid_argument for malformed or empty text; not_found with a list of what is there if nothing
  // matches; unavailable with the reason if what matches cannot be used.
  Result<Device> open(std::string_view selector) const;

  // Ends the work of all plugins that were loaded, each within `plugin_time_limit`. Nothing else
  // ever does, and no destructor: a process that ends without it leaves plugins as they are, which
  // they must bear. For who wants what plugins write at their end (caches, traces), or wants to
  // know of a plugin that leaks or hangs there. First drop all that came from this runtime: a
  // plugin with a device, tensor, executable or event alive is left alone. From then on open() says
  // failed_precondition, and the lists are empty. The first failure after trying all:
  // failed_precondition for a plugin that is still used (call again when it is not),
  // deadline_exceeded for one that hangs, incompatible for one that leaks or lets an exception out.
  Status shutdown() const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
