// SPDX-License-Identifier: Apache-2.0
// Of VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, what is asked for. Vulkan's headers have
// the first one from 1.3.255 on; these stand in for it, whatever the headers are.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace stria::vulkan {

inline constexpr const char* kCooperativeMatrixExtension = "VK_KHR_cooperative_matrix";
inline constexpr const char* kBfloat16Extension = "VK_KHR_shader_bfloat16";

inline constexpr VkStructureType kBfloat16FeaturesType{VkStructureType(1000141000)};
inline constexpr VkStructureType kCooperativeMatrixFeaturesType{VkStructureType(1000506000)};
inline constexpr VkStructureType kCooperativeMatrixFormType{VkStructureType(1000506001)};
inline constexpr VkStructureType kCooperativeMatrixPropertiesType{VkStructureType(1000506002)};

// VkPhysicalDeviceShaderBfloat16FeaturesKHR
struct Bfloat16Features {
  VkStructureType sType;
  void* pNext;
  VkBool32 shaderBFloat16Type;
  VkBool32 shaderBFloat16DotProduct;
  VkBool32 shaderBFloat16CooperativeMatrix;
};

// VkPhysicalDeviceCooperativeMatrixFeaturesKHR
struct CooperativeMatrixFeatures {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};

// VkPhysicalDeviceCooperativeMatrixPropertiesKHR
struct CooperativeMatrixProperties {
  VkStructureType sType;
  void* pNext;
  VkShaderStageFlags cooperativeMatrixSupportedStages;
};

// VkCooperativeMatrixPropertiesKHR: one product that the device knows.
struct CooperativeMatrixForm {
  VkStructureType sType;
  void* pNext;
  uint32_t MSize, NSize, KSize;
  int32_t AType, BType, CType, ResultType;  // VkComponentTypeKHR
  VkBool32 saturatingAccumulation;
  int32_t scope;  // VkScopeKHR
};

// VkScopeKHR
inline constexpr int32_t kSubgroupScope = 3;

using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice device, uint32_t* count, CooperativeMatrixForm* out);

}  // namespace stria::vulkan
