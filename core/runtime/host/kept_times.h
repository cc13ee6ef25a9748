// SPDX-License-Identifier: Apache-2.0
// What runs of a program took on a device, kept for the next choice between devices.
#pragma once

#include <optional>
#include <string>

#include "stria/base/time_range.h"
#include "stria/runtime/pick/device_info.h"
#include "stria/stripe/block.h"

namespace stria {

// A file in the user's cache folder. Its key has the program, the build of stria, the plugin, and
// the device's name, which has the driver's version where there is one. Whatever is wrong with a
// file is a miss.
class KeptTimes {
 public:
  KeptTimes(const stripe::Program& generic, bool fast_math);

  std::optional<TimeRange> find(const DeviceInfo& device) const;
  void keep(const DeviceInfo& device, const TimeRange& run) const;

 private:
  std::string key_of(const DeviceInfo& device) const;
  std::string program_;  // empty: nothing is kept
};

}  // namespace stria
