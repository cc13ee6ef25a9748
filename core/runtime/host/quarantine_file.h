// SPDX-License-Identifier: Apache-2.0
// Devices that failed, kept for the next processes: `auto` does without them for a time that
// doubles from failure to failure. docs/decisions/20261129-device-history.md has the numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stria/runtime/pick/device_info.h"
#include "stria/runtime/pick/device_record.h"

namespace stria {

// A file for each device and cause in the user's cache folder. Its key has the plugin with its
// files as they lie on the disk (hal/files/folder_identity.h), so that one that is built anew
// begins anew; the device's id and its name, which has the driver's version where there is one; and
// the boot of this machine: times are those since then, so that nothing depends on a clock that
// people set. Whatever is wrong with a file is no quarantine.
//
// Safe from any thread and process. What two processes write at once is one failure: both read
// what was there before, and write the same.
class QuarantineFile {
 public:
  // Seconds since this machine has booted, sleep included, by default.
  using Clock = std::function<double()>;
  explicit QuarantineFile(Clock clock = {});

  double now() const { return clock_(); }
  // The failure that keeps the device out for the longest time; nullopt: it may be taken.
  std::optional<Quarantine> find(const DeviceInfo& device) const;
  // The device has failed in work that was begun at `began`, by now(). If it has failed so since
  // then, that is the same failure, and nothing changes.
  void failed(const DeviceInfo& device, Quarantine::Cause cause, std::string_view program,
              std::string_view why, double began) const;
  // A run has ended well. Wrong results are forgiven only if these have been `compared`.
  void ended_well(const DeviceInfo& device, bool compared) const;
  // Forgets all of it; whether there was anything.
  bool clear(const DeviceInfo& device) const;

 private:
  struct Entry;
  std::string key_of(const DeviceInfo& device, Quarantine::Cause cause) const;
  std::optional<Entry> entry_of(const DeviceInfo& device, Quarantine::Cause cause) const;
  bool clear(const DeviceInfo& device, Quarantine::Cause cause) const;

  Clock clock_;
  std::string boot_;
};

}  // namespace stria
