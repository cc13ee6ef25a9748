// SPDX-License-Identifier: Apache-2.0
// What is listed of devices that are made up here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

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
  std::vector<CooperativeMatrixForm> forms = {};
  VkShaderStageFlags matrix_stages = VK_SHADER_STAGE_COMPUTE_BIT;
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
    if (at->sType == kCooperativeMatrixPropertiesType)
      reinterpret_cast<CooperativeMatrixProperties*>(at)->cooperativeMatrixSupportedStages =
          device.matrix_stages;
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
  if (!linked.contains(kCooperativeMatrixFeaturesType)) flags.cooperativeMatrix = false;
  if (!linked.contains(kBfloat16FeaturesType)) flags.shaderBFloat16Type = false;
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
  vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
      [](VkPhysicalDevice handle, uint32_t* count, CooperativeMatrixForm* out) -> VkResult {
    const auto& forms = reinterpret_cast<FakeDevice*>(handle)->forms;
    *count = static_cast<uint32_t>(forms.size());
    if (out)
      for (const CooperativeMatrixForm& form : forms) {
        EXPECT_EQ(out->sType, kCooperativeMatrixFormType);
        *out++ = form;
      }
    return VK_SUCCESS;
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

// By numbers of VkComponentTypeKHR.
constexpr int32_t kFp16 = 0, kFp32 = 1, kI8 = 3, kI32 = 5, kU8 = 7, kU32 = 9, kBf16 = 1000141000;

CooperativeMatrixForm form(std::array<uint32_t, 3> mnk, int32_t operands, int32_t sum,
                           int32_t result, int32_t scope = kSubgroupScope,
                           VkBool32 saturates = VK_FALSE) {
  return {kCooperativeMatrixFormType,
          nullptr,
          mnk[0],
          mnk[1],
          mnk[2],
          operands,
          operands,
          sum,
          result,
          saturates,
          scope};
}

// With what a GPU lists, what it may list besides, and one form twice.
FakeDevice device_with_matrices() {
  FakeDevice out{"Big", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU};
  out.extensions = {kCooperativeMatrixExtension, kBfloat16Extension};
  constexpr int32_t kGroupScope = 2, kUnknownType = 1000491002;
  out.forms = {form({16, 16, 16}, kFp16, kFp16, kFp16),
               form({16, 8, 8}, kFp16, kFp32, kFp32),
               form({16, 8, 8}, kFp16, kFp32, kFp32),
               form({16, 16, 32}, kU8, kU32, kU32),
               form({16, 16, 32}, kI8, kI32, kI32),
               form({16, 16, 16}, kBf16, kFp32, kFp32),
               form({16, 16, 16}, kFp16, kFp32, kFp16),
               form({64, 64, 16}, kFp16, kFp32, kFp32, kGroupScope),
               form({16, 16, 64}, kI8, kI32, kI32, kSubgroupScope, VK_TRUE),
               form({16, 8, 32}, kUnknownType, kFp32, kFp32)};
  return out;
}

std::vector<MatrixForm> matrices(const FakeDevice& device, const std::set<std::string>& hidden) {
  devices = {device};
  const FoundDevice found = find_devices(driver(), hidden).at(0);
  // No product that kernels may not use is one of the model's.
  EXPECT_EQ(found.features.matrices.empty(),
            found.info.properties.find("instructions") == std::string::npos);
  return found.features.matrices;
}

TEST(FindDevices, ListsProductsOfMatricesOfSubgroups) {
  using enum DataType;
  const MatrixForm half{16, 16, 16, fp16, fp16, fp16}, small{16, 8, 8, fp16, fp16, fp32},
      bytes{16, 16, 32, u8, u8, u32}, signed_bytes{16, 16, 32, i8, i8, i32},
      brain{16, 16, 16, bf16, bf16, fp32};
  devices = {device_with_matrices()};
  const FoundDevice found = find_devices(driver()).at(0);
  EXPECT_THAT(found.features.matrices, ElementsAre(half, small, bytes, signed_bytes, brain));
  EXPECT_THAT(found.extensions, ElementsAre(kCooperativeMatrixExtension, kBfloat16Extension));
  const auto properties = nlohmann::json::parse(found.info.properties);
  EXPECT_TRUE(properties["mem_units"].contains("MATRIX"));
  const auto& instructions = properties["exec_units"]["SUBGROUP"]["instructions"];
  std::vector<std::string> names;
  for (const auto& [name, instruction] : instructions.items()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("matrix_bf16_fp32_16x16x16", "matrix_fp16_fp32_16x8x8",
                                 "matrix_i8_i32_16x16x32", "matrix_u8_u32_16x16x32"));
  EXPECT_EQ(instructions["matrix_fp16_fp32_16x8x8"], nlohmann::json::parse(R"({
      "idxs": [{"name": "m", "size": 16}, {"name": "n", "size": 8}, {"name": "k", "size": 8}],
      "operands": {
        "A": {"type": "fp16", "dims": ["m", "k"], "home": "MATRIX"},
        "B": {"type": "fp16", "dims": ["k", "n"], "home": "MATRIX"},
        "C": {"type": "fp32", "dims": ["m", "n"], "home": "MATRIX", "written": true}}})"));

  // Those of bf16 need a feature of their own.
  EXPECT_THAT(matrices(device_with_matrices(), {"shaderBFloat16CooperativeMatrix"}),
              ElementsAre(half, small, bytes, signed_bytes));
  EXPECT_THAT(matrices(device_with_matrices(), {kBfloat16Extension}),
              ElementsAre(half, small, bytes, signed_bytes));
}

TEST(FindDevices, WithoutFixedSubgroupsInComputeThereAreNoMatrices) {
  const FakeDevice device = device_with_matrices();
  EXPECT_FALSE(matrices(device, {}).empty());
  for (const char* hidden :
       {"cooperativeMatrix", "VK_KHR_cooperative_matrix", "subgroupSizeControl"})
    EXPECT_TRUE(matrices(device, {hidden}).empty()) << hidden;
  devices = {device};
  EXPECT_THAT(find_devices(driver(), {"cooperativeMatrix"}).at(0).extensions, ElementsAre());
  FakeDevice draws = device;
  draws.matrix_stages = VK_SHADER_STAGE_FRAGMENT_BIT;
  EXPECT_TRUE(matrices(draws, {}).empty());
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
