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
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/runtime/pick/device_info.h"
#include "stria/runtime/pick/prediction.h"
#include "stria/runtime/pick/selection.h"

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
  // Files with numbers that refine the hardware model of each device that is opened, as
  // `stria calibrate` writes them. Those in hw/overlays of the plugin and in $STRIA_HW_DIR (else
  // ~/.config/stria/hw) that are for the device are read besides, and before these.
  std::vector<std::filesystem::path> hw_overlays;
  unsigned threads = 0;  // of the host, for plugins; 0: $STRIA_THREADS, or all usable cores
  // The limit for each step of loading in which code of a plugin runs, for opening a device and for
  // making its compiler. A plugin that hangs costs this much.
  std::chrono::milliseconds plugin_time_limit{5000};
  // A plugin that has not yet run on this machine without trouble is first tried in a process of
  // its own (stria_probe, which belongs to the package; without it, plugins are loaded at once). So
  // a plugin that ends its process, or hangs, is listed with that reason, and does not end this
  // process.
  bool probe_plugins = true;
  // What was found out in earlier processes counts, and what is found out here is kept for later
  // ones, in the user's cache folder: `auto` does without devices that were lost not long ago, and
  // without plugins that fail the conformance suite (docs/devices.md).
  bool device_history = true;
  // All plugins run in processes of their own, as if every selector began with `isolated:`.
  bool isolate_plugins = false;
  // No wait for a device takes longer: it fails, and names the plugin.
  uint64_t wait_limit_ns = kForever;
  // Called if a call into a plugin takes longer than `wait_limit_ns`, with the plugin's id, the
  // name of its function, and how long the call has lasted. The calling thread cannot be brought
  // back; an application that must go on ends the process. Runs on a thread of its own, and must
  // not drop the last handle of this runtime.
  std::function<void(std::string_view plugin, std::string_view function, double seconds)> on_hang;
  // Messages are for the author of the plugins: they say the place in the plugin's source, too. Of
  // plugins in $STRIA_PLUGIN_PATH and ~/.local/lib/stria/plugins they are in any case.
  bool author = false;
  // Lines for people from plugins; empty: dropped. Called from any thread.
  std::function<void(LogLevel, std::string_view)> log;
};

// How Runtime::pick predicts. Plain value.
struct PickOptions {
  CompileOptions compile;
  // Only what is known without opening a device: milliseconds, for wide intervals.
  bool bounds_only = false;
  // Where the intervals of devices overlap that of the best one, the program is built and run on
  // random values on each of these, for so many seconds in all; 0: it is not. What was measured so
  // before counts in any case.
  double measure_s = 0;
  // Hardware models without a device that are ranked beside the devices: Pick::models.
  std::vector<ModelFile> models;
  // Called before each device is asked, from the calling thread; may be empty.
  std::function<void(size_t done, size_t all, std::string_view device)> progress;
};

// A plugin that was found. Plain value.
struct PluginInfo {
  std::string id;
  std::filesystem::path directory;
  Status status;  // ok, or why it cannot be used; the other plugins can
};

// A handle; safe from any thread. What came from it outlives it. Several runtimes in one process do
// not disturb each other.
class STRIA_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});

  // Both find and load all plugins on the first call, and never fail: what is broken is listed as
  // such.
  std::vector<PluginInfo> plugins() const;
  // All devices of all working plugins, those not available too, in search order.
  std::vector<DeviceInfo> devices() const;

  // Opens a device. docs/devices.md has the grammar of selectors, pick/device_selector.h what they
  // are as data: `plugin` (its first available device); `plugin:N` (the N-th of its list, from 0);
  // `plugin:glob` (the first available one whose name or id matches, letters of either case, with *
  // ? and [a-z]); several of these with commas between (the first one that can be opened); `auto`
  // (among all available ones, the one whose hardware model promises the most operations per
  // second, and one of the kind `software` only if there is no other); conditions (`mem>=8G`,
  // `dtype:bf16`, `kind:gpu`, `real`) and exclusions (`!sim`), which all hold. A device that is
  // passed over has a line in the log.
  // With `isolated:` in front the plugin runs in a process of its own: if that ends, whatever the
  // reason, the device is lost (device_lost) and this process is not. Opened again, it gets another
  // one. Where that one hangs it is ended, after `plugin_time_limit` in a function that must not
  // wait, and after a minute in others.
  // invalid_argument for malformed or empty text; not_found with a list of what is there if nothing
  // matches; unavailable with the reasons if what matches cannot be used; unsupported for an
  // objective or a limit, which cannot be kept yet.
  Result<Device> open(std::string_view selector) const;
  // The same for a program. A device that lacks what the program needs (types of elements, memory)
  // is passed over, with a line in the log that says what; if the selector is one name, it is
  // unsupported. `inputs` as for Device::compile.
  Result<Device> open(std::string_view selector, const Program& program,
                      const InputTypes& inputs = {}) const;
  // What open() goes by: a verdict on every device, and the order in which they are tried. Opens
  // none. Fails for malformed text only (and a program that does not bind): a selection may be
  // empty, which check_any_kept() turns into a failure.
  Result<Selection> select(std::string_view selector) const;
  Result<Selection> select(std::string_view selector, const Program& program,
                           const InputTypes& inputs = {}) const;

  // Which device a program had better run on: what it takes on each one that the selector keeps, by
  // the device's hardware model and by what its plugin says, and the order that follows. Opens them
  // one after the other, unless `bounds_only`, and runs the passes of their pipelines; builds and
  // runs nothing. A device that cannot be opened or compiled for is dropped with the
  // reason. Objectives and limits of the selector are kept. Fails like select(), and for a model of
  // PickOptions that is wrong; a choice may be empty, which check_any_kept(pick.selection) turns
  // into a failure.
  Result<Pick> pick(std::string_view selector, const Program& program,
                    const InputTypes& inputs = {}, const PickOptions& options = {}) const;

  // Ends the work of all plugins that were loaded, each within `plugin_time_limit`. Nothing else
  // does this, and no destructor: a process that ends without it leaves plugins as they are, which
  // they must bear. Call it if you want what plugins write at their end (caches, traces), or if you
  // want to know of a plugin that leaks or hangs there. First drop all that came from this runtime:
  // a plugin with a live device, tensor, executable or event is left alone. Afterwards open()
  // returns failed_precondition, and the lists are empty. Returns the first failure, after trying
  // all plugins: failed_precondition for a plugin that is still used (call again when it is not),
  // deadline_exceeded for one that hangs, incompatible for one that leaks or lets an exception out.
  Status shutdown() const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
