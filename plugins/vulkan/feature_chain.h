// SPDX-License-Identifier: Apache-2.0
// Features of a device: as flags, and as the chain of structs in which Vulkan tells them and is
// told which to enable.
#pragma once

#include <set>
#include <string>

#include "cooperative_matrix.h"
#include "loader.h"

namespace stria::vulkan {

struct FeatureFlags {
#define STRIA_VK_FEATURE(place, feature) bool feature = false;
#include "features.def"
#undef STRIA_VK_FEATURE
};

// Is `name` that of a feature in features.def?
bool is_feature(const std::string& name);

class FeatureChain {
 public:
  // With the structs that a device of this version with these extensions knows.
  FeatureChain(uint32_t api_version, const std::set<std::string>& extensions);
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  VkPhysicalDeviceFeatures2* first() { return &core; }
  // Without those in `hidden`.
  FeatureFlags read(const std::set<std::string>& hidden) const;
  void write(const FeatureFlags& flags);

 private:
  VkPhysicalDeviceFeatures2 core{};
  VkPhysicalDevice16BitStorageFeatures storage16{};
  VkPhysicalDevice8BitStorageFeatures storage8{};
  VkPhysicalDeviceShaderFloat16Int8Features small{};
  VkPhysicalDeviceBufferDeviceAddressFeatures address{};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model{};
  VkPhysicalDeviceScalarBlockLayoutFeatures scalar_layout{};
  VkPhysicalDeviceHostQueryResetFeatures query_reset{};
  VkPhysicalDeviceSynchronization2Features synchronization{};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup{};
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR shared{};
  VkPhysicalDeviceFaultFeaturesEXT fault{};
  CooperativeMatrixFeatures matrix{};
  Bfloat16Features bfloat16{};
};

}  // namespace stria::vulkan
