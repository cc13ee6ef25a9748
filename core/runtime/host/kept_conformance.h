// SPDX-License-Identifier: Apache-2.0
// Verdicts of `stria conform`, kept for the choice of a device.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "stria/runtime/pick/device_record.h"

namespace stria {

// Files in the user's cache folder. A verdict is of the plugin's files as they lie on the disk
// (hal/files/folder_identity.h), and of a device as reports call it: "0: Acme 300 rev B", its id
// and its name, which has the driver's version where there is one. So a plugin that is built anew,
// or is a copy, has none. Whatever is wrong with a file is no verdict. Safe from any thread and
// process.
class KeptConformance {
 public:
  // `files`: hal::folder_lines of the plugin's folder.
  explicit KeptConformance(std::string files) : files_(std::move(files)) {}

  std::optional<Conformance> find(const std::string& device) const;
  // Of two verdicts the newer one counts, unless it says nothing new: where all holds up to a level
  // that an older one has passed, the older one stays.
  void keep(const std::string& device, const Conformance& verdict) const;

 private:
  std::string key_of(const std::string& device) const;
  std::string files_;
};

}  // namespace stria
