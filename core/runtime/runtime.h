// SPDX-License-Identifier: Apache-2.0
// The way in: finds plugins, lists their devices, opens one. See examples of use in README.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/host.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/device.h"

namespace stria {

struct RuntimeOptions {
  hal::SearchOptions search;
  unsigned threads = 0;  // that plugins may use on the host; 0: all usable cores
  // No wait for a device takes longer; it fails and names the plugin.
  uint64_t wait_limit_ns = UINT64_MAX;
  // Lines for people from plugins; empty: dropped. Called from any thread.
  std::function<void(hal::LogLevel, std::string_view)> log;
};

// Which device: `plugin` (its first available one), `plugin:N` (the N-th of its list, from 0),
// `plugin:glob` (the first available one whose name or id matches, letters of either case, with * ?
// and [a-z]), `auto` (of all available ones that whose hardware model promises the most operations
// per second).
struct DeviceSelector {
  bool automatic = false;
  std::string plugin;
  std::string device;  // empty: the first available
};
// invalid_argument for malformed or empty text.
Result<DeviceSelector> parse_device_selector(std::string_view text);

// A handle; safe from any thread.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});

  // All plugins, broken ones too, with their devices; found and loaded by the first call.
  const std::vector<hal::PluginRecord>& plugins() const;
  // not_found with a list of what is there if nothing matches; unavailable with the reason if what
  // matches cannot be used.
  Result<Device> open(std::string_view selector) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Does `text` match `pattern` (* any characters, ? one, [a-z] [!a-z] one of a set), whatever the
// case?
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace stria
