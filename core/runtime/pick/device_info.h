// SPDX-License-Identifier: Apache-2.0
// What a plugin says of one of its devices.
#pragma once

#include <cstdint>
#include <string>

namespace stria {

// Plain value.
struct DeviceInfo {
  std::string selector;  // "llvm_cpu:0": Runtime::open takes it
  std::string plugin;    // the plugin's id
  std::string id;        // unique in its plugin, stable between runs
  std::string name;      // for people
  std::string kind;      // which of the plugin's hardware models it has; see Runtime::open
  std::string vendor;    // may be empty
  bool available = false;
  std::string reason;         // why not, if not available
  uint64_t memory_bytes = 0;  // 0: not known
  std::string folder;         // of the plugin's files
};

}  // namespace stria
