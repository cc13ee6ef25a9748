// SPDX-License-Identifier: Apache-2.0
#include "device_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "matrix_forms.h"
#include "stria/base/json_object.h"
#include "stria/base/refusal.h"

namespace stria::vulkan {
namespace {

// More lanes than this gain nothing here.
constexpr int64_t kGroupLanes = 256;

// The properties of a device, and of the extensions that it has.
struct Properties {
  explicit Properties(const std::set<std::string>& extensions, uint32_t api_version) {
    const auto link = [this](auto& part, VkStructureType type, bool known) {
      part.sType = type;
      if (!known) return;
      part.pNext = all.pNext;
      all.pNext = &part;
    };
    const bool is_1_3 = api_version >= VK_API_VERSION_1_3;
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    link(driver, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, true);
    link(id, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, true);
    link(floats, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, true);
    link(subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, true);
    link(maintenance3, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, true);
    link(subgroup_sizes, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
         is_1_3 || extensions.contains(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME));
    link(maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
         is_1_3 || extensions.contains(VK_KHR_MAINTENANCE_4_EXTENSION_NAME));
    link(multiprocessors, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
         extensions.contains(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME));
    link(shader_engines, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD,
         extensions.contains(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME));
    link(matrix, kCooperativeMatrixPropertiesType,
         extensions.contains(kCooperativeMatrixExtension));
    has_pci = extensions.contains(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
    link(pci, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT, has_pci);
  }
  Properties(const Properties&) = delete;

  VkPhysicalDeviceProperties2 all{};
  VkPhysicalDeviceDriverProperties driver{};
  VkPhysicalDeviceIDProperties id{};
  VkPhysicalDeviceFloatControlsProperties floats{};
  VkPhysicalDeviceSubgroupProperties subgroup{};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroup_sizes{};
  VkPhysicalDeviceMaintenance3Properties maintenance3{};
  VkPhysicalDeviceMaintenance4Properties maintenance4{};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV multiprocessors{};
  VkPhysicalDeviceShaderCorePropertiesAMD shader_engines{};
  CooperativeMatrixProperties matrix{};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
  bool has_pci = false;
};

template <size_t kSize>
std::string text_of(const char (&text)[kSize]) {
  return std::string(text, std::find(text, text + kSize, '\0'));
}

std::string hex(const uint8_t* bytes, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += "0123456789abcdef"[bytes[i] >> 4];
    out += "0123456789abcdef"[bytes[i] & 15];
  }
  return out;
}

// False if the driver does not say them.
bool extensions_of(const Instance& vk, VkPhysicalDevice device, std::set<std::string>& out) {
  uint32_t count = 0;
  if (vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> all(count);
  const VkResult code =
      vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data());
  if (code != VK_SUCCESS && code != VK_INCOMPLETE) return false;
  all.resize(count);
  for (const VkExtensionProperties& extension : all) out.insert(text_of(extension.extensionName));
  return true;
}

// What no kernel can do without.
Refusal why_unavailable(const FeatureFlags& flags, uint32_t api_version) {
  std::string missing;
  const auto need = [&missing](bool has, const char* name) {
    if (!has) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(flags.bufferDeviceAddress, "bufferDeviceAddress");
  need(flags.timelineSemaphore, "timelineSemaphore");
  need(flags.vulkanMemoryModel, "vulkanMemoryModel");
  need(flags.synchronization2, api_version >= VK_API_VERSION_1_3
                                   ? "synchronization2"
                                   : "synchronization2 (VK_KHR_synchronization2)");
  if (missing.empty()) return Refusal::none();
  return "its driver (Vulkan " + version_text(api_version) + ") lacks " + missing;
}

// The families of queues that work and copies go to; false if none computes.
bool choose_queues(const Instance& vk, FoundDevice& out) {
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(out.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> all(count);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(out.handle, &count, all.data());
  all.resize(count);
  bool has_compute = false, draws_too = false, has_transfer = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (all[i].queueCount == 0) continue;
    const bool computes = (all[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    const bool draws = (all[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    const bool copies = (all[i].queueFlags & VK_QUEUE_TRANSFER_BIT) != 0;
    const QueueFamily family{i, all[i].timestampValidBits, computes};
    // One for computing alone starts work sooner, and is not the one that a display waits for.
    if (computes && (!has_compute || (draws_too && !draws))) {
      has_compute = true;
      draws_too = draws;
      out.compute = family;
      out.second_queue = all[i].queueCount > 1;
    } else if (copies && !computes && !draws && !has_transfer) {
      has_transfer = true;
      out.transfer = family;
    }
  }
  if (!has_transfer) out.transfer = out.compute;
  return has_compute;
}

// The size of the largest heap that is the device's own, and so where tensors live.
uint64_t memory_bytes(const VkPhysicalDeviceMemoryProperties& memory) {
  uint64_t largest = 0;
  for (uint32_t h = 0; h < memory.memoryHeapCount; ++h)
    if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      largest = std::max<uint64_t>(largest, memory.memoryHeaps[h].size);
  return largest;
}

// The keys of hw/*.json's model that the driver knows.
std::string properties_of(const FoundDevice& device, const Properties& properties) {
  nlohmann::json out = nlohmann::json::object();
  auto& memories = object_at(out, "mem_units");
  auto& executors = object_at(out, "exec_units");
  object_at(memories, "DRAM")["size_KiB"] = device.info.memory_bytes / 1024;
  object_at(memories, "LOCAL")["size_KiB"] = device.limits.shared_bytes / 1024;
  uint64_t units = properties.multiprocessors.shaderSMCount;
  if (units == 0)
    units = uint64_t{properties.shader_engines.shaderEngineCount} *
            properties.shader_engines.shaderArraysPerEngineCount *
            properties.shader_engines.computeUnitsPerShaderArray;
  if (units == 0 && device.is_software) units = std::thread::hardware_concurrency();
  if (units > 0) object_at(executors, "CU")["count"] = units;
  const uint32_t subgroup = device.subgroup > 0 ? device.subgroup : device.default_subgroup;
  if (subgroup > 0) object_at(executors, "SUBGROUP")["max_threads"] = subgroup;
  if (nlohmann::json matrices = instructions_of(device.features.matrices); !matrices.empty()) {
    memories["MATRIX"] = nlohmann::json::object();
    object_at(executors, "SUBGROUP")["instructions"] = std::move(matrices);
  }
  // Vulkan lets a driver flush where it does not promise to keep them, in one kernel and not in
  // another: what one shows says nothing of the next. lavapipe promises nothing, but does not
  // flush, and tests/precision holds it to that.
  const bool keeps_all = properties.driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  const auto flushes = [&](bool has, bool promised, const char* type) {
    if (has && !promised && !keeps_all) array_at(out, "flushes_subnormals").push_back(type);
  };
  flushes(true, device.features.of32.keeps_subnormals, "fp32");
  flushes(device.features.fp64, device.features.of64.keeps_subnormals, "fp64");
  // As emit/requirements.cc has it. A pointer to a narrow integer may only be made where there is
  // arithmetic on such integers.
  const auto needs = [&](bool has, const char* feature, std::initializer_list<const char*> types) {
    if (has) return;
    for (const char* type : types) object_at(out, "lacks_types")[type] = feature;
  };
  const Features& features = device.features;
  needs(features.int8, "shaderInt8", {"bool", "i8", "u8"});
  needs(features.storage8, "storageBuffer8BitAccess", {"bool", "i8", "u8"});
  needs(features.int16, "shaderInt16", {"i16", "u16", "fp16", "bf16"});
  needs(features.storage16, "storageBuffer16BitAccess", {"i16", "u16", "fp16", "bf16"});
  needs(features.int64, "shaderInt64", {"i64", "u64"});
  needs(features.fp64, "shaderFloat64", {"fp64"});
  object_at(out, "settings")["threads"] =
      std::bit_floor(static_cast<uint64_t>(std::min(kGroupLanes, device.limits.group_lanes)));
  return out.dump();
}

FloatControls controls(VkBool32 special, VkBool32 subnormals, VkBool32 even) {
  return {special == VK_TRUE, subnormals == VK_TRUE, even == VK_TRUE};
}

void describe_kernels(const Properties& properties, FoundDevice& out) {
  const VkPhysicalDeviceLimits& limits = properties.all.properties.limits;
  const VkPhysicalDeviceFloatControlsProperties& floats = properties.floats;
  const FeatureFlags& flags = out.flags;
  Features& to = out.features;
  to.device = out.info.name;
  to.fp64 = flags.shaderFloat64;
  to.fp16 = flags.shaderFloat16;
  to.int64 = flags.shaderInt64;
  to.int16 = flags.shaderInt16;
  to.int8 = flags.shaderInt8;
  to.storage16 = flags.storageBuffer16BitAccess;
  to.storage8 = flags.storageBuffer8BitAccess;
  to.shared_views = flags.workgroupMemoryExplicitLayout;
  to.shared_views16 = to.shared_views && flags.workgroupMemoryExplicitLayout16BitAccess;
  to.shared_views8 = to.shared_views && flags.workgroupMemoryExplicitLayout8BitAccess;
  to.of16 = controls(floats.shaderSignedZeroInfNanPreserveFloat16,
                     floats.shaderDenormPreserveFloat16, floats.shaderRoundingModeRTEFloat16);
  to.of32 = controls(floats.shaderSignedZeroInfNanPreserveFloat32,
                     floats.shaderDenormPreserveFloat32, floats.shaderRoundingModeRTEFloat32);
  to.of64 = controls(floats.shaderSignedZeroInfNanPreserveFloat64,
                     floats.shaderDenormPreserveFloat64, floats.shaderRoundingModeRTEFloat64);
  to.spirv_version = out.api_version >= VK_API_VERSION_1_3 ? 0x00010600 : 0x00010500;
  to.push_bytes = limits.maxPushConstantsSize;
  out.default_subgroup = properties.subgroup.subgroupSize;
  const VkPhysicalDeviceSubgroupSizeControlProperties& sizes = properties.subgroup_sizes;
  if (flags.subgroupSizeControl &&
      (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
      sizes.minSubgroupSize > 0)
    out.subgroup = std::clamp(out.default_subgroup, sizes.minSubgroupSize, sizes.maxSubgroupSize);
  out.limits.group_lanes =
      std::min<int64_t>(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  // With a size that is asked for comes a limit on the number of subgroups.
  if (out.subgroup > 0 && sizes.maxComputeWorkgroupSubgroups > 0)
    out.limits.group_lanes = std::min(out.limits.group_lanes,
                                      int64_t{out.subgroup} * sizes.maxComputeWorkgroupSubgroups);
  out.limits.shared_bytes = limits.maxComputeSharedMemorySize;
  // Of its source: LP_MAX_TGSI_LOOP_ITERATIONS; seen in Mesa 22.3.
  if (properties.driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) out.limits.loop_iterations = 65535;
  for (size_t d = 0; d < 3; ++d) out.limits.groups[d] = limits.maxComputeWorkGroupCount[d];
}

FoundDevice describe(const Instance& vk, VkPhysicalDevice handle,
                     const std::set<std::string>& hidden) {
  FoundDevice out;
  out.handle = handle;
  VkPhysicalDeviceProperties basic{};
  vk.vkGetPhysicalDeviceProperties(handle, &basic);
  out.api_version = basic.apiVersion;
  out.is_software = basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const bool is_gpu = basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                      basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                      basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
  out.info.kind = out.is_software ? "software" : is_gpu ? "gpu" : "accelerator";
  const std::string name = text_of(basic.deviceName);
  out.info.name = name;
  out.info.id = hex(basic.pipelineCacheUUID, 4);
  const auto refuse = [&out](const std::string& reason) {
    out.info.available = false;
    out.info.reason = reason;
    return out;
  };
  if (basic.apiVersion < VK_API_VERSION_1_2)
    return refuse("its driver has Vulkan " + version_text(basic.apiVersion) + "; 1.2 is needed");
  std::set<std::string> extensions;
  if (!extensions_of(vk, handle, extensions))
    return refuse("its driver does not say its extensions");
  for (const std::string& gone : hidden) extensions.erase(gone);

  Properties properties(extensions, basic.apiVersion);
  vk.vkGetPhysicalDeviceProperties2(handle, &properties.all);
  out.info.id = hex(properties.id.deviceUUID, 4);
  std::string driver = text_of(properties.driver.driverName);
  if (const std::string more = text_of(properties.driver.driverInfo); !more.empty())
    driver += " " + more;
  out.info.name = name + " (" + (out.is_software ? "software, " : "") + driver + ")";
  out.info.vendor = driver;
  out.build_key = hex(properties.id.deviceUUID, VK_UUID_SIZE) + " " +
                  hex(properties.id.driverUUID, VK_UUID_SIZE) + " " +
                  hex(basic.pipelineCacheUUID, VK_UUID_SIZE) + " " + out.info.name + " " +
                  std::to_string(basic.driverVersion);
  out.nanoseconds_per_tick = static_cast<double>(basic.limits.timestampPeriod);
  out.largest_buffer_bytes = properties.maintenance4.maxBufferSize;
  out.promised_allocation_bytes = properties.maintenance3.maxMemoryAllocationSize;
  out.may_have_display = basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                         basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  if (properties.has_pci)
    out.pci =
        fmt::format("{:04x}:{:02x}:{:02x}.{:x}", properties.pci.pciDomain, properties.pci.pciBus,
                    properties.pci.pciDevice, properties.pci.pciFunction);

  FeatureChain chain(basic.apiVersion, extensions);
  vk.vkGetPhysicalDeviceFeatures2(handle, chain.first());
  out.flags = chain.read(hidden);
  // bf16 serves for matrices alone.
  out.flags.shaderBFloat16CooperativeMatrix = out.flags.shaderBFloat16CooperativeMatrix &&
                                              out.flags.shaderBFloat16Type &&
                                              out.flags.cooperativeMatrix;
  describe_kernels(properties, out);
  // A subgroup holds a matrix in all of its lanes: their number must be fixed.
  if (out.flags.cooperativeMatrix && out.subgroup > 0 &&
      (properties.matrix.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
    out.features.matrices = matrix_forms(vk, handle, out.flags.shaderBFloat16CooperativeMatrix);
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  vk.vkGetPhysicalDeviceMemoryProperties2(handle, &memory);
  out.memory = memory.memoryProperties;
  out.info.memory_bytes = memory_bytes(out.memory);
  out.info.properties = properties_of(out, properties);
  if (const Refusal refusal = why_unavailable(out.flags, basic.apiVersion))
    return refuse(refusal.reason());
  if (!choose_queues(vk, out)) return refuse("none of its queues computes");
  if (out.info.memory_bytes == 0) return refuse("it has no memory of its own");

  // With this extension NVIDIA's driver (580.159, H100) hides what it should report: on a device
  // with a queue that also draws, a kernel that writes where no memory is counts as done, the next
  // one never ends, and neither who waits nor who submits is told of the loss.
  if (properties.driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY) out.flags.deviceFault = false;

  // What is not enabled may not be used.
  const auto enable = [&](const char* extension, bool wanted) {
    if (wanted && extensions.contains(extension)) out.extensions.push_back(extension);
  };
  const bool is_1_3 = basic.apiVersion >= VK_API_VERSION_1_3;
  enable(VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, !is_1_3);
  enable(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, !is_1_3 && out.flags.subgroupSizeControl);
  enable(VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME, out.features.shared_views);
  enable(VK_EXT_DEVICE_FAULT_EXTENSION_NAME, out.flags.deviceFault);
  enable(kCooperativeMatrixExtension, out.flags.cooperativeMatrix);
  enable(kBfloat16Extension, out.flags.shaderBFloat16CooperativeMatrix);
  // Its own specification asks for it wherever it is there.
  enable("VK_KHR_portability_subset", true);
  return out;
}

}  // namespace

FoundDevice no_device(const std::string& reason) {
  FoundDevice out;
  out.info.id = "none";
  out.info.name = "Vulkan";
  out.info.kind = "gpu";
  out.info.available = false;
  out.info.reason = reason;
  return out;
}

std::vector<FoundDevice> find_devices(const Instance& instance,
                                      const std::set<std::string>& hidden) {
  uint32_t count = 0;
  VkResult code = instance.vkEnumeratePhysicalDevices(instance.handle, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(code == VK_SUCCESS ? count : 0);
  if (code == VK_SUCCESS && count > 0)
    code = instance.vkEnumeratePhysicalDevices(instance.handle, &count, handles.data());
  if (code != VK_SUCCESS && code != VK_INCOMPLETE)
    return {no_device("the Vulkan drivers do not say their devices: vkEnumeratePhysicalDevices: " +
                      name_of_code(code))};
  handles.resize(count);
  std::vector<FoundDevice> out;
  for (VkPhysicalDevice handle : handles) out.push_back(describe(instance, handle, hidden));
  if (out.empty())
    return {
        no_device("no Vulkan driver has a device; is the hardware there, may this user open it "
                  "(/dev/dri/render*)?")};
  std::stable_sort(out.begin(), out.end(), [](const FoundDevice& a, const FoundDevice& b) {
    return a.is_software < b.is_software;
  });
  // Two devices of one kind may have no UUIDs of their own.
  std::map<std::string, int> seen;
  for (FoundDevice& device : out)
    if (const int earlier = seen[device.info.id]++; earlier > 0)
      device.info.id += "." + std::to_string(earlier);
  return out;
}

}  // namespace stria::vulkan
