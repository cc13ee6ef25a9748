// SPDX-License-Identifier: Apache-2.0
// The Vulkan loader of this machine, with faults that a test switches on: what is not here is the
// loader's own.
#include <dlfcn.h>

#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
#include <vulkan/vulkan.h>

#include "cooperative_matrix.h"
#include "faulty_vulkan.h"

extern "C" {
std::atomic<int> stria_vulkan_fault{0};
std::atomic<int> stria_vulkan_submits{0};
std::atomic<int> stria_vulkan_waits{0};
std::atomic<int> stria_vulkan_recordings{0};
std::atomic<int> stria_vulkan_barriers{0};
std::atomic<int> stria_vulkan_pipelines{0};
std::atomic<int> stria_vulkan_memories{0};
std::atomic<int> stria_vulkan_dispatches{0};
std::atomic<int> stria_vulkan_groups{0};
std::atomic<int> stria_vulkan_freed{0};
std::atomic<int> stria_vulkan_freed_after_loss{0};
}

namespace {

using namespace stria::vulkan;

PFN_vkGetInstanceProcAddr loaders() {
  static void* const loader = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  static const auto function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(loader, "vkGetInstanceProcAddr"));
  return function;
}

// The functions behind those here, by name; of the instance or device asked for last.
class Real {
 public:
  void set(const std::string& name, PFN_vkVoidFunction function) {
    std::lock_guard<std::mutex> lock(mutex_);
    functions_[name] = function;
  }
  template <typename Function>
  Function get(const char* name) {
    std::lock_guard<std::mutex> lock(mutex_);
    return reinterpret_cast<Function>(functions_.at(name));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, PFN_vkVoidFunction> functions_;  // guarded by mutex_
};
Real& real() {
  static Real* const one = new Real;
  return *one;
}
#define STRIA_REAL(function) real().get<PFN_##function>(#function)

bool is(VulkanFault fault) { return stria_vulkan_fault == fault; }

VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* allocator, VkInstance* out) {
  if (is(kNoDriver)) return VK_ERROR_INCOMPATIBLE_DRIVER;
  return STRIA_REAL(vkCreateInstance)(info, allocator, out);
}

VkResult VKAPI_CALL enumerate_devices(VkInstance instance, uint32_t* count,
                                      VkPhysicalDevice* devices) {
  if (is(kNoDevice)) {
    *count = 0;
    return VK_SUCCESS;
  }
  if (!is(kTwins)) return STRIA_REAL(vkEnumeratePhysicalDevices)(instance, count, devices);
  uint32_t found = 0;
  VkResult code = STRIA_REAL(vkEnumeratePhysicalDevices)(instance, &found, nullptr);
  if (code == VK_SUCCESS && devices) {
    std::vector<VkPhysicalDevice> all(found);
    code = STRIA_REAL(vkEnumeratePhysicalDevices)(instance, &found, all.data());
    for (uint32_t i = 0; i < *count; ++i) devices[i] = all[i % found];
  }
  *count = 2 * found;
  return code;
}

void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties* out) {
  STRIA_REAL(vkGetPhysicalDeviceProperties)(device, out);
  if (is(kOldDriver)) out->apiVersion = VK_API_VERSION_1_1;
}

void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t* count,
                               VkQueueFamilyProperties* out) {
  if (is(kTransferQueue)) {
    uint32_t one = 1;
    *count = 2;
    if (!out) return;
    STRIA_REAL(vkGetPhysicalDeviceQueueFamilyProperties)(device, &one, out);
    out[1] = out[0];
    out[1].queueFlags = VK_QUEUE_TRANSFER_BIT;
    return;
  }
  STRIA_REAL(vkGetPhysicalDeviceQueueFamilyProperties)(device, count, out);
  if (out && is(kNoComputeQueue))
    for (uint32_t i = 0; i < *count; ++i)
      out[i].queueFlags &= ~static_cast<VkQueueFlags>(VK_QUEUE_COMPUTE_BIT);
}

bool has_matrices() { return is(kMatrices) || is(kMatricesRefused); }

// The extension that the driver has only as it seems from here, and the struct of its features.
struct MadeUp {
  const char* extension = nullptr;
  VkStructureType features{};
};
MadeUp made_up() {
  if (is(kReports))
    return {VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
  if (has_matrices()) return {kCooperativeMatrixExtension, kCooperativeMatrixFeaturesType};
  return {};
}

VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                               VkExtensionProperties* out) {
  const MadeUp more = made_up();
  if (!more.extension)
    return STRIA_REAL(vkEnumerateDeviceExtensionProperties)(device, layer, count, out);
  uint32_t room = out ? *count - 1 : 0;
  const VkResult code = STRIA_REAL(vkEnumerateDeviceExtensionProperties)(device, layer, &room, out);
  if (out) {
    out[room] = {};
    std::strcpy(out[room].extensionName, more.extension);
  }
  *count = room + 1;
  return code;
}

void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
  STRIA_REAL(vkGetPhysicalDeviceFeatures2)(device, out);
  for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext) {
    if (is(kReports) && at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
      reinterpret_cast<VkPhysicalDeviceFaultFeaturesEXT*>(at)->deviceFault = VK_TRUE;
    if (has_matrices() && at->sType == kCooperativeMatrixFeaturesType)
      reinterpret_cast<CooperativeMatrixFeatures*>(at)->cooperativeMatrix = VK_TRUE;
  }
}

void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
  STRIA_REAL(vkGetPhysicalDeviceProperties2)(device, out);
  for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext) {
    if (has_matrices() && at->sType == kCooperativeMatrixPropertiesType)
      reinterpret_cast<CooperativeMatrixProperties*>(at)->cooperativeMatrixSupportedStages =
          VK_SHADER_STAGE_COMPUTE_BIT;
    // What is known of the real driver's reports says nothing of those made up here.
    if (is(kReports) && at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceDriverProperties*>(at)->driverID = VkDriverId{};
    if (is(kSmallBuffers) &&
        at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceMaintenance4Properties*>(at)->maxBufferSize = kSmallBytes;
    if (is(kSmallPieces) && at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(at)->maxMemoryAllocationSize =
          kSmallBytes;
  }
}

// fp16 with sums of fp32 in 16 x 16 x 16, i8 with sums of i32 in 16 x 16 x 32.
VkResult VKAPI_CALL matrix_forms(VkPhysicalDevice, uint32_t* count, CooperativeMatrixForm* out) {
  *count = 2;
  if (!out) return VK_SUCCESS;
  out[0] = {kCooperativeMatrixFormType, nullptr, 16, 16, 16, 0, 0, 1, 1, VK_FALSE, kSubgroupScope};
  out[1] = {kCooperativeMatrixFormType, nullptr, 16, 16, 32, 3, 3, 5, 5, VK_FALSE, kSubgroupScope};
  return VK_SUCCESS;
}

// A module with matrices becomes one of as many lanes that does nothing.
VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                  const VkAllocationCallbacks* allocator, VkShaderModule* out) {
  constexpr uint32_t kCapability = 17, kMatrix = 6022, kExecutionMode = 16, kLocalSize = 17;
  bool multiplies = false;
  uint32_t lanes = 1;
  const uint32_t* const words = info->pCode;
  for (size_t at = 5; at < info->codeSize / 4; at += words[at] >> 16) {
    const uint32_t op = words[at] & 0xffff;
    if (op == kCapability && words[at + 1] == kMatrix) multiplies = true;
    if (op == kExecutionMode && words[at + 2] == kLocalSize) lanes = words[at + 3];
  }
  if (!multiplies) return STRIA_REAL(vkCreateShaderModule)(device, info, allocator, out);
  if (is(kMatricesRefused)) return VK_ERROR_INVALID_SHADER_NV;
  const uint32_t nothing[] = {
      0x07230203, 0x00010500, 0,          5,          0,     // header
      0x00020011, 1,          0x0003000e, 0,          1,     // Shader, Logical GLSL450
      0x0005000f, 5,          1,          0x6e69616d, 0,     // GLCompute %1 "main"
      0x00060010, 1,          kLocalSize, lanes,      1, 1,  //
      0x00020013, 2,          0x00030021, 3,          2,     // void, void()
      0x00050036, 2,          1,          0,          3,     // its function
      0x000200f8, 4,          0x000100fd, 0x00010038};       // label, return, end
  VkShaderModuleCreateInfo own = *info;
  own.pCode = nothing;
  own.codeSize = sizeof nothing;
  return STRIA_REAL(vkCreateShaderModule)(device, &own, allocator, out);
}

VkResult VKAPI_CALL fault_info(VkDevice, VkDeviceFaultCountsEXT* counts,
                               VkDeviceFaultInfoEXT* info) {
  if (info) {
    std::strcpy(info->description, "made up");
    info->pAddressInfos[0] = {VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0xabc000, 4096};
  }
  counts->addressInfoCount = 1;
  counts->vendorInfoCount = 0;
  counts->vendorBinarySize = 0;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* allocator, VkDevice* out) {
  if (is(kNoDeviceMade)) return VK_ERROR_INITIALIZATION_FAILED;
  VkDeviceCreateInfo own = *info;
  if (is(kTransferQueue)) own.queueCreateInfoCount = 1;
  const MadeUp more = made_up();
  if (!more.extension) return STRIA_REAL(vkCreateDevice)(device, &own, allocator, out);
  // The driver itself must not be asked for what it has not.
  std::vector<const char*> asked;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (std::strcmp(info->ppEnabledExtensionNames[i], more.extension) != 0)
      asked.push_back(info->ppEnabledExtensionNames[i]);
  if (asked.size() == info->enabledExtensionCount) return VK_ERROR_EXTENSION_NOT_PRESENT;
  own.enabledExtensionCount = static_cast<uint32_t>(asked.size());
  own.ppEnabledExtensionNames = asked.data();
  for (auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(info->pNext)); at;
       at = at->pNext)
    while (at->pNext && at->pNext->sType == more.features) at->pNext = at->pNext->pNext;
  return STRIA_REAL(vkCreateDevice)(device, &own, allocator, out);
}

void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue* out) {
  STRIA_REAL(vkGetDeviceQueue)(device, is(kTransferQueue) ? 0 : family, index, out);
}

VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkCommandPool* out) {
  VkCommandPoolCreateInfo own = *info;
  if (is(kTransferQueue)) own.queueFamilyIndex = 0;
  return STRIA_REAL(vkCreateCommandPool)(device, &own, allocator, out);
}

VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                  const VkAllocationCallbacks* allocator, VkBuffer* out) {
  VkBufferCreateInfo own = *info;
  if (is(kTransferQueue)) own.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  return STRIA_REAL(vkCreateBuffer)(device, &own, allocator, out);
}

VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                             const VkAllocationCallbacks* allocator, VkDeviceMemory* out) {
  if (is(kNoMemory) || (is(kSmallPieces) && info->allocationSize > kSmallBytes))
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const VkResult code = STRIA_REAL(vkAllocateMemory)(device, info, allocator, out);
  if (code == VK_SUCCESS) ++stria_vulkan_memories;
  return code;
}

void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                            const VkAllocationCallbacks* allocator) {
  if (memory) --stria_vulkan_memories;
  ++stria_vulkan_freed;
  if (is(kLost) || is(kHangs) || is(kLostInSilence) || is(kNowhere))
    ++stria_vulkan_freed_after_loss;
  STRIA_REAL(vkFreeMemory)(device, memory, allocator);
}

VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                     const VkComputePipelineCreateInfo* infos,
                                     const VkAllocationCallbacks* allocator, VkPipeline* out) {
  if (is(kRejects)) return VK_ERROR_INVALID_SHADER_NV;
  stria_vulkan_pipelines += static_cast<int>(count);
  return STRIA_REAL(vkCreateComputePipelines)(device, cache, count, infos, allocator, out);
}

VkResult VKAPI_CALL begin(VkCommandBuffer buffer, const VkCommandBufferBeginInfo* info) {
  ++stria_vulkan_recordings;
  return STRIA_REAL(vkBeginCommandBuffer)(buffer, info);
}

void VKAPI_CALL barrier(VkCommandBuffer buffer, const VkDependencyInfo* info) {
  ++stria_vulkan_barriers;
  STRIA_REAL(vkCmdPipelineBarrier2)(buffer, info);
}

void VKAPI_CALL dispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
  ++stria_vulkan_dispatches;
  stria_vulkan_groups += static_cast<int>(x * y * z);
  STRIA_REAL(vkCmdDispatch)(buffer, x, y, z);
}

void VKAPI_CALL push(VkCommandBuffer buffer, VkPipelineLayout layout, VkShaderStageFlags stages,
                     uint32_t offset, uint32_t size, const void* values) {
  std::vector<std::byte> own(static_cast<const std::byte*>(values),
                             static_cast<const std::byte*>(values) + size);
  constexpr uint64_t kAddress = kNoAddress;
  if (is(kNowhere) && offset == 0 && size >= sizeof kAddress)
    std::memcpy(own.data(), &kAddress, sizeof kAddress);
  STRIA_REAL(vkCmdPushConstants)(buffer, layout, stages, offset, size, own.data());
}

VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo2* infos,
                           VkFence fence) {
  // Two of the plugin's may be one.
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (count == 0) {
    if (is(kLostInSilence)) return VK_ERROR_DEVICE_LOST;
    return STRIA_REAL(vkQueueSubmit2)(queue, count, infos, fence);
  }
  ++stria_vulkan_submits;
  stria_vulkan_waits += static_cast<int>(infos->waitSemaphoreInfoCount);
  return STRIA_REAL(vkQueueSubmit2)(queue, count, infos, fence);
}

VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore, uint64_t* value) {
  if (is(kLost)) return VK_ERROR_DEVICE_LOST;
  const VkResult code = STRIA_REAL(vkGetSemaphoreCounterValue)(device, semaphore, value);
  if (is(kHangs) || is(kLostInSilence)) *value = 0;
  return code;
}

VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info, uint64_t timeout) {
  if (is(kLost)) return VK_ERROR_DEVICE_LOST;
  if (!is(kHangs) && !is(kLostInSilence))
    return STRIA_REAL(vkWaitSemaphores)(device, info, timeout);
  const timespec slice = {0, static_cast<long>(timeout % 1'000'000'000)};
  ::nanosleep(&slice, nullptr);
  return VK_TIMEOUT;
}

// The function here that stands before one of the loader's, null if there is none.
PFN_vkVoidFunction mine(const char* name) {
  const auto is_name = [name](const char* other) { return std::strcmp(name, other) == 0; };
#define STRIA_MINE(function, replacement) \
  if (is_name(#function)) return reinterpret_cast<PFN_vkVoidFunction>(replacement);
  STRIA_MINE(vkCreateInstance, create_instance)
  STRIA_MINE(vkEnumeratePhysicalDevices, enumerate_devices)
  STRIA_MINE(vkGetPhysicalDeviceProperties, properties)
  STRIA_MINE(vkGetPhysicalDeviceProperties2, properties2)
  STRIA_MINE(vkCreateShaderModule, create_module)
  STRIA_MINE(vkGetPhysicalDeviceQueueFamilyProperties, queue_families)
  STRIA_MINE(vkEnumerateDeviceExtensionProperties, extensions)
  STRIA_MINE(vkGetPhysicalDeviceFeatures2, features)
  STRIA_MINE(vkCreateDevice, create_device)
  STRIA_MINE(vkGetDeviceQueue, get_queue)
  STRIA_MINE(vkCreateCommandPool, create_pool)
  STRIA_MINE(vkCreateBuffer, create_buffer)
  STRIA_MINE(vkAllocateMemory, allocate)
  STRIA_MINE(vkFreeMemory, free_memory)
  STRIA_MINE(vkCreateComputePipelines, create_pipelines)
  STRIA_MINE(vkBeginCommandBuffer, begin)
  STRIA_MINE(vkCmdPipelineBarrier2, barrier)
  STRIA_MINE(vkCmdDispatch, dispatch)
  STRIA_MINE(vkCmdPushConstants, push)
  STRIA_MINE(vkQueueSubmit2, submit)
  STRIA_MINE(vkGetSemaphoreCounterValue, counter)
  STRIA_MINE(vkWaitSemaphores, wait)
#undef STRIA_MINE
  return nullptr;
}

PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char* name) {
  if (is(kReports) && std::strcmp(name, "vkGetDeviceFaultInfoEXT") == 0)
    return reinterpret_cast<PFN_vkVoidFunction>(fault_info);
  PFN_vkVoidFunction function = STRIA_REAL(vkGetDeviceProcAddr)(device, name);
  PFN_vkVoidFunction own = function ? mine(name) : nullptr;
  if (own) real().set(name, function);
  return own ? own : function;
}

}  // namespace

extern "C" PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char* name) {
  if (has_matrices() && std::strcmp(name, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") == 0)
    return reinterpret_cast<PFN_vkVoidFunction>(matrix_forms);
  PFN_vkVoidFunction function = loaders()(instance, name);
  if (!function) return nullptr;
  PFN_vkVoidFunction own = std::strcmp(name, "vkGetDeviceProcAddr") == 0
                               ? reinterpret_cast<PFN_vkVoidFunction>(device_function)
                               : mine(name);
  if (own) real().set(name, function);
  return own ? own : function;
}
#pragma GCC visibility pop
