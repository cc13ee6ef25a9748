// SPDX-License-Identifier: Apache-2.0
// Rates of moves between devices, kept for the next process.
#pragma once

#include <optional>
#include <string>

#include "stria/runtime/pick/device_info.h"
#include "stria/several/topology.h"

namespace stria {

// A file in the user's cache folder. Its key has the build of stria, `what` is moved where, and of
// each device plugin, id and name, which has the driver's version where there is one. Whatever is
// wrong with a file is a miss.
class KeptRate {
 public:
  KeptRate(const char* what, const DeviceInfo& from, const DeviceInfo& to);

  std::optional<MoveRate> find() const;
  void keep(const MoveRate& rate) const;

 private:
  std::string key_;  // empty: nothing is kept
};

}  // namespace stria
