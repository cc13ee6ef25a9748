// SPDX-License-Identifier: Apache-2.0
// Which device of a plugin the tests take: its first available one, or the one that a selector in
// STRIA_TEST_DEVICES names by its number: "opencl:1", or several with blanks between.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace stria {

// "opencl:1" or "opencl", as Runtime::open takes it.
inline std::string chosen_device(std::string_view plugin) {
  const char* text = std::getenv("STRIA_TEST_DEVICES");
  std::istringstream chosen(text ? text : "");
  for (std::string selector; chosen >> selector;)
    if (selector.starts_with(plugin) && selector.substr(plugin.size(), 1) == ":") return selector;
  return std::string(plugin);
}

// Of devices as a plugin lists them: the id of the chosen one, "" if none is available.
template <typename DeviceInfos>
std::string chosen_device_id(std::string_view plugin, const DeviceInfos& devices) {
  const std::string selector = chosen_device(plugin);
  if (selector.size() > plugin.size())
    return devices.at(std::stoul(selector.substr(plugin.size() + 1))).id;
  for (const auto& info : devices)
    if (info.available) return info.id;
  return "";
}

}  // namespace stria
