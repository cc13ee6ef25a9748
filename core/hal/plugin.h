// SPDX-License-Identifier: Apache-2.0
// One loaded plugin: its manifest, its normalised tables and its driver.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/source_text.h"
#include "stria/base/status.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/device.h"
#include "stria/hal/files/manifest.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/host/host.h"

namespace stria::hal {

struct PluginState;

// What is done to a plugin, in this order; each step has a verdict.
enum class Step { search, manifest, trust, hash, version, elf, load, query, create, enumerate };
std::string_view name_of(Step step);

struct Verdict {
  // What was found out names files and repeats texts of others: a verdict's message is escaped and
  // cut, wherever it comes from.
  Verdict(Step done, Status outcome);
  Step step;
  Status status;
};

// A copyable handle. The shared object stays loaded for the life of the process unless the manifest
// says unloadable and shutdown() has succeeded.
class Plugin {
 public:
  Plugin() = default;
  bool valid() const { return state_ != nullptr; }

  const Manifest& manifest() const;
  const std::string& id() const;
  const std::filesystem::path& directory() const;
  // Absolute paths of a device kind's files; not_found with the nearest name for an unknown kind.
  Result<std::filesystem::path> hw_model(std::string_view kind) const;
  Result<std::filesystem::path> pipeline(std::string_view kind) const;
  // What they say now. permission_denied for one that has left the plugin's directory since it was
  // loaded.
  Result<SourceText> read_hw_model(std::string_view kind) const;
  Result<SourceText> read_pipeline(std::string_view kind) const;
  // `name`.json beside the kind's pipeline.
  Result<SourceText> read_fragment(std::string_view kind, const std::string& name) const;

  // Every device there could be, unavailable ones with the reason. incompatible for a device of an
  // unknown kind and for an id that comes twice. Waits as long as the plugin takes.
  Result<std::vector<DeviceInfo>> devices() const;
  // `options` is a JSON object for the plugin. Serialised over all plugins. deadline_exceeded if
  // the plugin takes longer than the time limit it was loaded with; its thread is left behind.
  Result<Device> open(std::string_view device_id, std::string_view options = "{}") const;

  // An optional table by name and version, or null.
  const void* extension(std::string_view name, uint32_t version) const;

  // Ends the plugin's work. failed_precondition, naming what is left by kind, while handles are
  // alive. Afterwards every call says failed_precondition. incompatible if it is shut down and has
  // not given back what it took of the host's services, or lets an exception out; deadline_exceeded
  // if it takes longer than the time limit it was loaded with: its thread is left behind.
  Status shutdown();

  const std::shared_ptr<PluginState>& state() const { return state_; }

 private:
  friend struct PluginLoad;
  std::shared_ptr<PluginState> state_;
};

inline constexpr std::chrono::milliseconds kTimeLimit{5000};

// stria_plugin_query of the plugin with that manifest.
using QueryFunction =
    std::function<stria_error*(const Manifest&, const stria_host_info*, stria_plugin_info*)>;

// How a plugin that has not been seen to behave is tried in a process of its own (probe.h).
struct ProbeOptions {
  // The executable stria_probe. Empty: it is not.
  std::filesystem::path program;
  // The folder where it is kept which plugins have behaved; "" keeps nothing: each load probes.
  std::filesystem::path memory;
  // What the child gets, and what decides whether the plugin has been seen in it; null: as it is
  // now, which is right as long as no driver has been loaded.
  std::shared_ptr<const Environment> environment;
};

struct LoadOptions {
  Reader reader = Reader::user;       // of what the plugin's errors say
  std::string driver_options = "{}";  // JSON object given to the plugin's driver
  bool check_trust = true;            // owner and mode of the directory and its files
  // For each step in which code of the plugin runs, and later for opening a device and making its
  // compiler. What takes longer fails, and its thread is left behind; a plugin that fails a step is
  // not used again.
  std::chrono::milliseconds time_limit = kTimeLimit;
  ProbeOptions probe;
  std::function<void(const Verdict&)> on_verdict;  // told each verdict at once; may be empty
  // May be empty. Asked for the tables instead of the plugin: its shared object is checked as ever,
  // not tried nor loaded (isolation/isolate.h). What it gives keeps the limits of time itself.
  QueryFunction stand_in;
  const void* driver_extensions = nullptr;  // stria_driver_options.next
};

struct LoadResult {
  std::vector<Verdict> verdicts;  // up to and including the first failed step
  Manifest manifest;              // as far as it could be read
  Plugin plugin;                  // valid if no step failed
  Status status() const { return verdicts.empty() ? Status() : verdicts.back().status; }
};

// Checks and loads the plugin in `directory` (absolute or relative to the working directory).
LoadResult load_plugin(const std::filesystem::path& directory, const std::shared_ptr<Host>& host,
                       const LoadOptions& options = {});

// The same for a plugin that is linked into this process: no file is read, no trust asked.
LoadResult adopt_plugin(Manifest manifest, stria_plugin_query_function query,
                        const std::shared_ptr<Host>& host, const LoadOptions& options = {});

}  // namespace stria::hal
