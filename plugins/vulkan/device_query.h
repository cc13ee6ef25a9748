// SPDX-License-Identifier: Apache-2.0
// What the drivers say of their devices.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emit/features.h"
#include "feature_chain.h"
#include "loader.h"
#include "stria/sdk/info.h"

namespace stria::vulkan {

// A family of queues.
struct QueueFamily {
  uint32_t index = 0;
  uint32_t timestamp_bits = 0;  // 0: it cannot tell times
  bool computes = false;
};

struct FoundDevice {
  VkPhysicalDevice handle = nullptr;
  sdk::DeviceInfo info;  // id: 8 digits of the device's UUID
  uint32_t api_version = 0;
  Features features;  // what kernels may use
  Limits limits;
  FeatureFlags flags;                   // to enable
  std::vector<std::string> extensions;  // to enable
  bool is_software = false;
  QueueFamily compute;
  QueueFamily transfer;             // the same if there is none that only copies
  bool second_queue = false;        // the family of `compute` has another queue
  double nanoseconds_per_tick = 0;  // of timestamps
  // Lanes of a subgroup, asked for with each pipeline; 0: the driver's own affair.
  uint32_t subgroup = 0;
  uint32_t default_subgroup = 0;  // what the driver takes if nothing is asked for
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t largest_buffer_bytes = 0;       // 0: not known
  uint64_t promised_allocation_bytes = 0;  // more in one piece may work, or not; 0: not known
  bool may_have_display = false;           // it is a GPU of this machine's
  std::string pci;                         // "0000:01:00.0"; empty: not known
  // Device, driver and its version: what kept pipelines depend on.
  std::string build_key;
};

// Every device of every driver: in the loader's order, software ones last; those not available,
// with the reason. If there is none, one unavailable device says so. `hidden`: names of features
// (features.def) and extensions that are taken for absent. Opens nothing.
std::vector<FoundDevice> find_devices(const Instance& instance,
                                      const std::set<std::string>& hidden = {});

// The entry that stands for all devices where none can be found.
FoundDevice no_device(const std::string& reason);

}  // namespace stria::vulkan
