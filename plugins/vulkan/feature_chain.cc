// SPDX-License-Identifier: Apache-2.0
#include "feature_chain.h"

namespace stria::vulkan {

bool is_feature(const std::string& name) {
#define STRIA_VK_FEATURE(place, feature) \
  if (name == #feature) return true;
#include "features.def"
#undef STRIA_VK_FEATURE
  return false;
}

FeatureChain::FeatureChain(uint32_t api_version, const std::set<std::string>& extensions) {
  const auto link = [this](auto& part, VkStructureType type, bool known) {
    part.sType = type;
    if (!known) return;
    part.pNext = core.pNext;
    core.pNext = &part;
  };
  const bool is_1_3 = api_version >= VK_API_VERSION_1_3;
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  link(storage16, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, true);
  link(storage8, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, true);
  link(small, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, true);
  link(address, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, true);
  link(timeline, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, true);
  link(memory_model, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, true);
  link(scalar_layout, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES, true);
  link(query_reset, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, true);
  link(synchronization, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
       is_1_3 || extensions.contains(VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME));
  link(subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
       is_1_3 || extensions.contains(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME));
  link(shared, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR,
       extensions.contains(VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME));
  link(fault, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
       extensions.contains(VK_EXT_DEVICE_FAULT_EXTENSION_NAME));
  link(matrix, kCooperativeMatrixFeaturesType, extensions.contains(kCooperativeMatrixExtension));
  link(bfloat16, kBfloat16FeaturesType, extensions.contains(kBfloat16Extension));
}

FeatureFlags FeatureChain::read(const std::set<std::string>& hidden) const {
  FeatureFlags out;
#define STRIA_VK_FEATURE(place, feature) \
  out.feature = place.feature == VK_TRUE && !hidden.contains(#feature);
#include "features.def"
#undef STRIA_VK_FEATURE
  return out;
}

void FeatureChain::write(const FeatureFlags& flags) {
#define STRIA_VK_FEATURE(place, feature) place.feature = flags.feature ? VK_TRUE : VK_FALSE;
#include "features.def"
#undef STRIA_VK_FEATURE
}

}  // namespace stria::vulkan
