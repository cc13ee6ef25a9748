// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "device_queue.h"
#include "display.h"
#include "fault_report.h"
#include "pipelines.h"
#include "queue.h"
#include "stria/base/file.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{64} << 20;
// Of staging memory that is kept for the next copy: the driver takes long to pin it.
constexpr uint64_t kIdleStagingBytes = uint64_t{256} << 20;

constexpr VkMemoryPropertyFlags kDirect =
    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
// Memory with other properties than these needs more than is asked for.
constexpr VkMemoryPropertyFlags kPlain = kDirect;

// The first type, which is the fastest, with all of `wanted` in a heap of at least `heap_bytes`;
// UINT32_MAX if there is none.
uint32_t find_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
                   VkMemoryPropertyFlags wanted, uint64_t heap_bytes) {
  for (uint32_t t = 0; t < memory.memoryTypeCount; ++t) {
    const VkMemoryType& type = memory.memoryTypes[t];
    if ((allowed >> t & 1) != 0 && (type.propertyFlags & wanted) == wanted &&
        (type.propertyFlags & ~kPlain) == 0 &&
        memory.memoryHeaps[type.heapIndex].size >= heap_bytes)
      return t;
  }
  return UINT32_MAX;
}

}  // namespace

Context::Context(const sdk::Host& host, const Instance& instance, FoundDevice device,
                 ContextOptions options)
    : host_(host),
      instance_(instance),
      device_(std::move(device)),
      options_(std::move(options)),
      faults_(options_.inject, device_.info.id) {
  create_device();
  try {
    create_queues();
    create_memory();
    set_dispatch_limit();
    pipelines_ = std::make_unique<Pipelines>(*this);
  } catch (...) {
    all_.clear();
    staging_memory_.reset();
    device_memory_.reset();
    compute_.reset();
    transfer_.reset();
    if (!lost()) vk_.vkDestroyDevice(handle_, nullptr);
    throw;
  }
}

Context::~Context() {
  all_.clear();
  pipelines_.reset();
  staging_memory_.reset();
  device_memory_.reset();
  compute_.reset();
  transfer_.reset();
  if (!lost()) vk_.vkDestroyDevice(handle_, nullptr);
}

void Context::create_device() {
  const float priorities[] = {1.0f, 1.0f};
  std::vector<VkDeviceQueueCreateInfo> queues(1);
  queues[0].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues[0].queueFamilyIndex = device_.compute.index;
  queues[0].queueCount = 1;
  queues[0].pQueuePriorities = priorities;
  if (device_.transfer.index != device_.compute.index) {
    queues.push_back(queues[0]);
    queues[1].queueFamilyIndex = device_.transfer.index;
  } else if (device_.second_queue) {
    queues[0].queueCount = 2;
  }
  FeatureChain chain(device_.api_version, {device_.extensions.begin(), device_.extensions.end()});
  chain.write(device_.flags);
  std::vector<const char*> extensions;
  for (const std::string& name : device_.extensions) extensions.push_back(name.c_str());
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = chain.first();
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const VkResult code = instance_.vkCreateDevice(device_.handle, &info, nullptr, &handle_);
  if (code != VK_SUCCESS) throw sdk::Error(failure_of(code, "vkCreateDevice", name()));
  std::string missing;
  if (load_device(instance_, handle_, device_.api_version, vk_, missing)) return;
  if (vk_.vkDestroyDevice) vk_.vkDestroyDevice(handle_, nullptr);
  throw sdk::Error(STRIA_UNAVAILABLE, "the driver of '" + name() + "' has no function " + missing);
}

void Context::create_queues() {
  compute_ = std::make_unique<DeviceQueue>(*this, device_.compute, 0, "compute");
  if (device_.transfer.index != device_.compute.index)
    transfer_ = std::make_unique<DeviceQueue>(*this, device_.transfer, 0, "transfer");
  else if (device_.second_queue)
    transfer_ = std::make_unique<DeviceQueue>(*this, device_.compute, 1, "transfer");
  all_.push_back(std::make_unique<Queue>(*this, transfer_ ? *transfer_ : *compute_));
  transfer_queue_ = all_.back().get();
}

void Context::create_memory() {
  // All buffers are made alike, so that what one may use all may use.
  VkBuffer probe = nullptr;
  check(create_buffer(256, probe), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vk_.vkGetBufferMemoryRequirements(handle_, probe, &needs);
  vk_.vkDestroyBuffer(handle_, probe, nullptr);
  const VkPhysicalDeviceMemoryProperties& memory = device_.memory;
  const uint32_t allowed = needs.memoryTypeBits;
  const uint64_t heap = device_.info.memory_bytes;

  MemoryKind tensors;
  tensors.what = "device memory";
  tensors.limit_bytes = heap;
  tensors.block_bytes = std::min(kBlockBytes, heap / 8);
  tensors.idle_bytes = tensors.block_bytes;
  tensors.type = options_.always_stage ? UINT32_MAX : find_type(memory, allowed, kDirect, heap);
  tensors.mapped = tensors.type != UINT32_MAX;
  if (!tensors.mapped)
    tensors.type = find_type(memory, allowed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, heap);

  MemoryKind staging;
  staging.what = "host memory that the device can reach";
  staging.mapped = true;
  staging.block_bytes = std::min(kBlockBytes / 4, heap / 8);
  staging.idle_bytes = kIdleStagingBytes;
  constexpr VkMemoryPropertyFlags kCoherent =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  staging.type = find_type(memory, allowed, kCoherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
  if (staging.type == UINT32_MAX) staging.type = find_type(memory, allowed, kCoherent, 0);
  if (tensors.type == UINT32_MAX || staging.type == UINT32_MAX)
    throw sdk::Error(STRIA_UNAVAILABLE,
                     "'" + name() + "' has no memory for buffers with device addresses");
  device_memory_ = std::make_unique<Allocator>(*this, tensors);
  staging_memory_ = std::make_unique<Allocator>(*this, staging);
}

void Context::set_dispatch_limit() {
  // Longer than a display may stand still without anybody noticing, and a fourth of what the
  // watchdogs of most systems allow.
  constexpr double kOfDisplayMs = 500;
  const double ms = options_.dispatch_limit_ms.value_or(
      device_.may_have_display && drives_display(device_.pci) ? kOfDisplayMs : 0);
  if (ms <= 0) return;
  const std::filesystem::path file = std::filesystem::path(options_.folder) / "hw" /
                                     (device_.is_software ? "software.json" : "gpu.json");
  rates_ = rates_of(code_generator::require(load_hardware_model(
      {file.string(), code_generator::require(read_file(file))}, {}, device_.info.properties)));
  dispatch_limit_ = {ms * 1e6, rates_.units};
}

VkResult Context::create_buffer(uint64_t bytes, VkBuffer& out) const {
  const uint32_t families[] = {device_.compute.index, device_.transfer.index};
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (families[0] != families[1]) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
  }
  out = nullptr;
  return vk_.vkCreateBuffer(handle_, &info, nullptr, &out);
}

Queue& Context::take_queue() {
  check_not_lost();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!free_.empty()) {
    Queue* queue = free_.back();
    free_.pop_back();
    return *queue;
  }
  all_.reserve(all_.size() + 1);
  free_.reserve(all_.size() + 1);
  try {
    all_.push_back(std::make_unique<Queue>(*this, *compute_));
  } catch (const std::system_error& error) {
    throw sdk::Error(STRIA_OUT_OF_MEMORY, "no thread for a queue of '" + name() + "', which has " +
                                              std::to_string(all_.size()) + ": " + error.what());
  }
  return *all_.back();
}

void Context::give_queue(Queue& queue) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(&queue);
}

void Context::check(VkResult code, const std::string& what) {
  if (code == VK_SUCCESS) return;
  if (code == VK_ERROR_DEVICE_LOST) {
    lose(what + ": " + name_of_code(code), true);
    check_not_lost();
  }
  throw sdk::Error(failure_of(code, what, name()));
}

void Context::lose(const std::string& why, bool driver_says_so) {
  if (lost()) return;
  const std::string report = driver_says_so ? fault_report(*this) : "";
  // Whoever notices the loss is often not whose work has caused it.
  constexpr int kMostNamed = 8;
  std::string others;
  int named = 0;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& queue : all_) {
    const std::string work = queue->describe_under_way();
    if (work.empty() || why.find(work) != std::string::npos || ++named > kMostNamed) continue;
    others += (named == 1 ? "; under way: " : "; ") + work;
  }
  DeviceLoss::lose(name(), why + others + (report.empty() ? "" : "; " + report),
                   VK_ERROR_DEVICE_LOST, name_of_code(VK_ERROR_DEVICE_LOST));
}

}  // namespace stria::vulkan
