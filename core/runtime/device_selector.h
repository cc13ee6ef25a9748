// SPDX-License-Identifier: Apache-2.0
// The text that says which device: see Runtime::open.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria {

struct DeviceSelector {
  bool isolated = false;
  bool automatic = false;
  std::string plugin;
  std::string device;  // empty: the first available
};
// What a selector begins with if the plugin is to have a process of its own.
inline constexpr std::string_view kIsolated = "isolated:";
// invalid_argument for malformed or empty text.
Result<DeviceSelector> parse_device_selector(std::string_view text);

// Does the selector's device part mean the device of that name and id at `position` of its plugin's
// list?
bool selects(const DeviceSelector& selector, std::string_view name, std::string_view id,
             size_t position);

// Does `text` match `pattern` (* any characters, ? one, [a-z] [!a-z] one of a set), whatever the
// case?
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace stria
