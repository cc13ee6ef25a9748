// SPDX-License-Identifier: Apache-2.0
// What is listed of devices that are made up here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "device_query.h"

namespace stria::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct FakeDevice {
  const char* name;
  VkPhysicalDeviceType type;
  uint32_t api_version = VK_API_VERSION_1_3;
  uint8_t uuid = 0x12;
  std::vector<const char*> extensions = {};
  std::vector<VkQueueFlags> queues = {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                      VK_QUEUE_TRANSFER_BIT};
  bool all_features = true;
  uint32_t multiprocessors = 0;
};

std::vector<FakeDevice> devices;
VkResult answer = VK_SUCCESS;  // to the question for devices

template <typename T>
void copy_text(T& to, const char* from) {
  std::strncpy(to, from, sizeof to - 1);
}

void properties(VkPhysicalDevice handle, VkPhysicalDeviceProperties* out) {
  const auto& device = *reinterpret_cast<FakeDevice*>(handle);
  out->apiVersion = device.api_version;
  out->deviceType = device.type;
  copy_text(out->deviceName, device.name);
  out->limits.maxComputeWorkGroupInvocations = 1024;
  out->limits.maxComputeWorkGroupSize[0] = 1024;
  out->limits.maxComputeSharedMemorySize = 48 << 10;
  out->limits.maxPushConstantsSize = 256;
  for (uint32_t& count : out->limits.maxComputeWorkGroupCount) count = 65535;
  out->limits.timestampPeriod = 10;
}

void properties2(VkPhysicalDevice handle, VkPhysicalDeviceProperties2* out) {
  const auto& device = *reinterpret_cast<FakeDevice*>(handle);
  properties(handle, &out->properties);
  for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext) {
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)
      std::memset(reinterpret_cast<VkPhysicalDeviceIDProperties*>(at)->deviceUUID, device.uuid,
                  VK_UUID_SIZE);
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
      auto* driver = reinterpret_cast<VkPhysicalDeviceDriverProperties*>(at);
      copy_text(driver->driverName, "Driver");
      copy_text(driver->driverInfo, "7.1");
    }
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(at)->subgroupSize = 64;
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
      auto* sizes = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(at);
      sizes->minSubgroupSize = 8;
      sizes->maxSubgroupSize = 32;
      sizes->maxComputeWorkgroupSubgroups = 16;
      sizes->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV)
      reinterpret_cast<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV*>(at)->shaderSMCount =
          device.multiprocessors;
  }
}

// Every feature of every struct that is asked for.
void features(VkPhysicalDevice handle, VkPhysicalDeviceFeatures2* out) {
  if (!reinterpret_cast<FakeDevice*>(handle)->all_features) return;
  FeatureFlags flags;
#define STRIA_VK_FEATURE(place, feature) flags.feature = true;
#include "features.def"
#undef STRIA_VK_FEATURE
  // A chain is written as a whole; its first struct is where it begins.
  auto* chain = reinterpret_cast<FeatureChain*>(out);
  ASSERT_EQ(chain->first(), out);
  std::set<VkStructureType> linked;
  for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext)
    linked.insert(at->sType);
  // A struct that is not linked is none that a driver could fill.
  if (!linked.contains(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES))
    flags.synchronization2 = false;
  if (!linked.contains(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR))
    flags.workgroupMemoryExplicitLayout = false;
  chain->write(flags);
}

Instance driver() {
  Instance vk;
  vk.vkEnumeratePhysicalDevices = [](VkInstance, uint32_t* count,
                                     VkPhysicalDevice* out) -> VkResult {
    *count = static_cast<uint32_t>(devices.size());
    if (!out) return VK_SUCCESS;
    for (FakeDevice& device : devices) *out++ = reinterpret_cast<VkPhysicalDevice>(&device);
    return answer;
  };
  vk.vkEnumerateDeviceExtensionProperties = [](VkPhysicalDevice handle, const char*,
                                               uint32_t* count,
                                               VkExtensionProperties* out) -> VkResult {
    const auto& names = reinterpret_cast<FakeDevice*>(handle)->extensions;
    *count = static_cast<uint32_t>(names.size());
    if (out)
      for (const char* name : names) copy_text((out++)->extensionName, name);
    return VK_SUCCESS;
  };
  vk.vkGetPhysicalDeviceProperties = properties;
  vk.vkGetPhysicalDeviceProperties2 = properties2;
  vk.vkGetPhysicalDeviceFeatures2 = features;
  vk.vkGetPhysicalDeviceMemoryProperties2 = [](VkPhysicalDevice,
                                               VkPhysicalDeviceMemoryProperties2* out) {
    out->memoryProperties.memoryHeapCount = 3;
    out->memoryProperties.memoryHeaps[0] = {uint64_t{1} << 28, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    out->memoryProperties.memoryHeaps[1] = {uint64_t{1} << 33, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    out->memoryProperties.memoryHeaps[2] = {uint64_t{1} << 36, 0};
  };
  vk.vkGetPhysicalDeviceQueueFamilyProperties = [](VkPhysicalDevice handle, uint32_t* count,
                                                   VkQueueFamilyProperties* out) {
    const auto& queues = reinterpret_cast<FakeDevice*>(handle)->queues;
    *count = static_cast<uint32_t>(queues.size());
    if (out)
      for (const VkQueueFlags flags : queues) *out++ = {flags, 2, 64, {}};
  };
  return vk;
}

TEST(FindDevices, ListsSoftwareLastAndSaysWhatEachIs) {
  devices = {{"llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU},
             {"Big",
              VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
              VK_API_VERSION_1_3,
              0xab,
              {"VK_NV_shader_sm_builtins", "VK_KHR_workgroup_memory_explicit_layout"},
              {VK_QUEUE_TRANSFER_BIT, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_TRANSFER_BIT,
               VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT},
              true,
              132},
             {"Big", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_API_VERSION_1_3, 0xab},
             {"Odd",
              VK_PHYSICAL_DEVICE_TYPE_OTHER,
              VK_API_VERSION_1_2,
              0xcd,
              {"VK_KHR_synchronization2"}}};
  const std::vector<FoundDevice> found = find_devices(driver());
  std::vector<std::string> ids, kinds, names;
  for (const FoundDevice& device : found) {
    EXPECT_TRUE(device.info.available) << device.info.reason;
    ids.push_back(device.info.id);
    kinds.push_back(device.info.kind);
    names.push_back(device.info.name);
  }
  EXPECT_THAT(ids, ElementsAre("abababab", "abababab.1", "cdcdcdcd", "12121212"));
  EXPECT_THAT(kinds, ElementsAre("gpu", "gpu", "accelerator", "software"));
  EXPECT_THAT(names, ElementsAre("Big (Driver 7.1)", "Big (Driver 7.1)", "Odd (Driver 7.1)",
                                 "llvmpipe (software, Driver 7.1)"));
  const FoundDevice& big = found[0];
  EXPECT_EQ(big.compute.index, 2u);
  EXPECT_EQ(big.transfer.index, 0u);
  EXPECT_EQ(big.subgroup, 32u);  // the nearest to its own that may be asked for
  EXPECT_EQ(big.limits.group_lanes, 512);
  EXPECT_EQ(big.limits.shared_bytes, 48 << 10);
  EXPECT_EQ(big.features.push_bytes, 256);
  EXPECT_EQ(big.features.spirv_version, 0x00010600u);
  EXPECT_TRUE(big.features.fp64 && big.features.int8 && big.features.shared_views);
  EXPECT_EQ(big.info.memory_bytes, uint64_t{1} << 33);
  for (const char* part :
       {R"("count":132)", R"("DRAM":{"size_KiB":8388608})", R"("LOCAL":{"size_KiB":48})",
        R"("SUBGROUP":{"max_threads":32})", R"("threads":256)"})
    EXPECT_THAT(big.info.properties, HasSubstr(part));
  EXPECT_THAT(big.extensions, ElementsAre("VK_KHR_workgroup_memory_explicit_layout"));
  EXPECT_FALSE(found[1].features.shared_views);
  EXPECT_THAT(found[1].info.properties, Not(HasSubstr("CU")));
  EXPECT_EQ(found[1].transfer.index, found[1].compute.index);
  // Without control of the size nothing is asked for.
  const FoundDevice& odd = found[2];
  EXPECT_THAT(odd.extensions, ElementsAre("VK_KHR_synchronization2"));
  EXPECT_EQ(odd.subgroup, 0u);
  EXPECT_EQ(odd.limits.group_lanes, 1024);
  EXPECT_EQ(odd.features.spirv_version, 0x00010500u);
}

TEST(FindDevices, SaysWhatIsMissing) {
  devices = {{"Old", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_1},
             {"Plain", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_2},
             {"Bare", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_API_VERSION_1_3, 1, {}, {}, false},
             {"Screen",
              VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
              VK_API_VERSION_1_3,
              2,
              {},
              {VK_QUEUE_GRAPHICS_BIT}}};
  const std::vector<FoundDevice> found = find_devices(driver());
  std::vector<std::string> reasons;
  for (const FoundDevice& device : found) {
    EXPECT_FALSE(device.info.available);
    reasons.push_back(device.info.reason);
  }
  EXPECT_THAT(
      reasons,
      ElementsAre("its driver has Vulkan 1.1.0; 1.2 is needed",
                  "its driver (Vulkan 1.2.0) lacks synchronization2 (VK_KHR_synchronization2)",
                  "its driver (Vulkan 1.3.0) lacks bufferDeviceAddress, timelineSemaphore, "
                  "vulkanMemoryModel, synchronization2",
                  "none of its queues computes"));
}

TEST(FindDevices, HidesWhatIsToBeHidden) {
  devices = {{"Big",
              VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
              VK_API_VERSION_1_3,
              3,
              {"VK_NV_shader_sm_builtins", "VK_KHR_workgroup_memory_explicit_layout"},
              {VK_QUEUE_COMPUTE_BIT},
              true,
              132}};
  const FoundDevice device =
      find_devices(driver(), {"shaderInt8", "VK_NV_shader_sm_builtins", "subgroupSizeControl",
                              "VK_KHR_workgroup_memory_explicit_layout"})
          .at(0);
  EXPECT_TRUE(device.info.available);
  EXPECT_FALSE(device.features.int8);
  EXPECT_TRUE(device.features.int16);
  EXPECT_FALSE(device.features.shared_views);
  EXPECT_EQ(device.subgroup, 0u);
  EXPECT_THAT(device.info.properties, Not(HasSubstr("132")));
}

TEST(FindDevices, SaysWhyThereAreNone) {
  devices = {{"Big", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU}};
  answer = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_EQ(find_devices(driver()).at(0).info.reason,
            "the Vulkan drivers do not say their devices: vkEnumeratePhysicalDevices: "
            "VK_ERROR_OUT_OF_HOST_MEMORY");
  answer = VK_SUCCESS;
  devices = {};
  EXPECT_THAT(find_devices(driver()).at(0).info.reason, HasSubstr("no Vulkan driver has a device"));
}

}  // namespace
}  // namespace stria::vulkan
