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

// With kReports the driver has VK_EXT_device_fault: so it seems from here.
VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                               VkExtensionProperties* out) {
  if (!is(kReports))
    return STRIA_REAL(vkEnumerateDeviceExtensionProperties)(device, layer, count, out);
  uint32_t room = out ? *count - 1 : 0;
  const VkResult code = STRIA_REAL(vkEnumerateDeviceExtensionProperties)(device, layer, &room, out);
  if (out) {
    out[room] = {};
    std::strcpy(out[room].extensionName, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
  }
  *count = room + 1;
  return code;
}

void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
  STRIA_REAL(vkGetPhysicalDeviceFeatures2)(device, out);
  if (!is(kReports)) return;
  for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext)
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
      reinterpret_cast<VkPhysicalDeviceFaultFeaturesEXT*>(at)->deviceFault = VK_TRUE;
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
  if (!is(kReports)) return STRIA_REAL(vkCreateDevice)(device, &own, allocator, out);
  // The driver itself must not be asked for what it has not.
  std::vector<const char*> asked;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (std::strcmp(info->ppEnabledExtensionNames[i], VK_EXT_DEVICE_FAULT_EXTENSION_NAME) != 0)
      asked.push_back(info->ppEnabledExtensionNames[i]);
  own.enabledExtensionCount = static_cast<uint32_t>(asked.size());
  own.ppEnabledExtensionNames = asked.data();
  for (auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(info->pNext)); at;
       at = at->pNext)
    while (at->pNext && at->pNext->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
      at->pNext = at->pNext->pNext;
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
  if (is(kNoMemory)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const VkResult code = STRIA_REAL(vkAllocateMemory)(device, info, allocator, out);
  if (code == VK_SUCCESS) ++stria_vulkan_memories;
  return code;
}

void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                            const VkAllocationCallbacks* allocator) {
  if (memory) --stria_vulkan_memories;
  ++stria_vulkan_freed;
  if (is(kLost) || is(kHangs)) ++stria_vulkan_freed_after_loss;
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

VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo2* infos,
                           VkFence fence) {
  // Two of the plugin's may be one.
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard<std::mutex> lock(*mutex);
  ++stria_vulkan_submits;
  stria_vulkan_waits += static_cast<int>(infos->waitSemaphoreInfoCount);
  return STRIA_REAL(vkQueueSubmit2)(queue, count, infos, fence);
}

VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore, uint64_t* value) {
  if (is(kLost)) return VK_ERROR_DEVICE_LOST;
  const VkResult code = STRIA_REAL(vkGetSemaphoreCounterValue)(device, semaphore, value);
  if (is(kHangs)) *value = 0;
  return code;
}

VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info, uint64_t timeout) {
  if (is(kLost)) return VK_ERROR_DEVICE_LOST;
  if (!is(kHangs)) return STRIA_REAL(vkWaitSemaphores)(device, info, timeout);
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
  PFN_vkVoidFunction function = loaders()(instance, name);
  if (!function) return nullptr;
  PFN_vkVoidFunction own = std::strcmp(name, "vkGetDeviceProcAddr") == 0
                               ? reinterpret_cast<PFN_vkVoidFunction>(device_function)
                               : mine(name);
  if (own) real().set(name, function);
  return own ? own : function;
}
#pragma GCC visibility pop
