// SPDX-License-Identifier: Apache-2.0
// A plugin beside the one that the subject has loaded, or that one once more: without checks around
// its slots, which only the subject's has.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {

class OtherPlugin {
 public:
  // `device_id` empty: the first device that is available.
  explicit OtherPlugin(std::filesystem::path directory, std::string device_id = "")
      : directory_(std::move(directory)), device_id_(std::move(device_id)) {}
  ~OtherPlugin();
  OtherPlugin(const OtherPlugin&) = delete;
  OtherPlugin& operator=(const OtherPlugin&) = delete;

  // Each does what those before it do, if that was not done.
  Status load();   // the shared object, and its tables
  Status begin();  // a driver
  Status open();   // a device, if one is available
  bool has_device() const { return device_.get() != nullptr; }
  // With a device: a round of work, and the suite's program if the device can run it.
  Status work(uint32_t seed);
  // Shuts the driver down; what was not given back is a failure. The object stays loaded.
  Status end();
  // After end(): unloads the object. A failure if it is still in the process.
  Status unload();

 private:
  const std::filesystem::path directory_;
  const std::string device_id_;
  Result<hal::Manifest> manifest_ = Status(StatusCode::unavailable, "not loaded");
  void* object_ = nullptr;
  hal::Tables tables_{};
  std::unique_ptr<TestHost> host_;
  Driver driver_;
  hal::DeviceInfo info_;
  Device device_;  // goes before the driver
  std::optional<SmallProgram> program_;
};

}  // namespace stria::conformance
