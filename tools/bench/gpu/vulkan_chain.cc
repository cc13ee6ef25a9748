// SPDX-License-Identifier: Apache-2.0
// One command buffer, recorded once: dispatches with a barrier between each two, no timestamps. Its
// kernel is the module that the plugin makes of the same device Stripe.
#include <algorithm>
#include <vector>

#include "../must.h"
#include "../tiny_kernel.h"
#include "device_query.h"
#include "drivers_chain.h"
#include "emit/program.h"
#include "feature_chain.h"
#include "loader.h"
#include "stria/stripe/text/parser.h"

namespace stria::bench {
namespace {

using vulkan::FoundDevice;
using vulkan::KernelCode;

// Lanes of a group, as the plugin has them.
constexpr int64_t kGroupPoints = 256;
constexpr int64_t kGroupPointsOfSoftware = 64;

// A device of the loader, with a queue for kernels: of a family without graphics if there is one.
class VulkanDriver final : public ChainDriver {
 public:
  explicit VulkanDriver(const std::string& text) {
    constexpr const char* kLibrary = "libvulkan.so.1";
    std::string reason;
    vulkan::Loader loader;
    if (!vulkan::open_loader(kLibrary, loader, reason)) fail(reason);
    instance_ = vulkan::take_instance(kLibrary, loader, reason);
    if (!instance_) fail(reason);
    for (FoundDevice& device : vulkan::find_devices(*instance_)) {
      if (device_.handle || !device.info.available) continue;
      if (device.info.name.find(text) != std::string::npos) device_ = std::move(device);
    }
    if (!device_.handle) fail("no available Vulkan device has '" + text + "' in its name");
    create_device();
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    check(vk_.vkCreateSemaphore(handle_, &info, nullptr, &ended_), "vkCreateSemaphore");
  }
  VulkanDriver(const VulkanDriver&) = delete;
  ~VulkanDriver() override {
    vk_.vkDestroySemaphore(handle_, ended_, nullptr);
    vk_.vkDestroyDevice(handle_, nullptr);
    vulkan::give_instance(std::move(instance_));
  }

  const std::string& name() const override { return device_.info.name; }
  bool is(const hal::DeviceInfo& listed) const override { return listed.id == device_.info.id; }
  ChainGoals goals() const override { return {0, 1.1}; }
  std::unique_ptr<DriversChain> chain(uint32_t kernels, int64_t count) override;

  const FoundDevice& device() const { return device_; }
  const vulkan::DeviceFunctions& vk() const { return vk_; }
  VkDevice handle() const { return handle_; }
  void check(VkResult code, const char* what) const {
    if (code != VK_SUCCESS)
      fail(std::string(what) + " on '" + name() + "': " + vulkan::name_of_code(code));
  }
  // The first type of the device's own memory among those allowed.
  uint32_t memory_type(uint32_t allowed) const {
    for (uint32_t t = 0; t < device_.memory.memoryTypeCount; ++t)
      if ((allowed >> t & 1) != 0 &&
          (device_.memory.memoryTypes[t].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0)
        return t;
    fail("'" + name() + "' has no memory of its own for a buffer");
  }
  // Returns when the commands have ended.
  void run(VkCommandBuffer commands) {
    VkCommandBufferSubmitInfo buffer{};
    buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
    buffer.commandBuffer = commands;
    const uint64_t number = ++submitted_;
    VkSemaphoreSubmitInfo signal{};
    signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    signal.semaphore = ended_;
    signal.value = number;
    signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    info.commandBufferInfoCount = 1;
    info.pCommandBufferInfos = &buffer;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signal;
    check(vk_.vkQueueSubmit2(queue_, 1, &info, nullptr), "vkQueueSubmit2");
    VkSemaphoreWaitInfo wait{};
    wait.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    wait.semaphoreCount = 1;
    wait.pSemaphores = &ended_;
    wait.pValues = &number;
    check(vk_.vkWaitSemaphores(handle_, &wait, UINT64_MAX), "vkWaitSemaphores");
  }

 private:
  [[noreturn]] static void fail(const std::string& why) {
    must(Status(StatusCode::unavailable, why));
    std::abort();
  }

  void create_device() {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = device_.compute.index;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    vulkan::FeatureChain chain(device_.api_version,
                               {device_.extensions.begin(), device_.extensions.end()});
    chain.write(device_.flags);
    std::vector<const char*> extensions;
    for (const std::string& extension : device_.extensions) extensions.push_back(extension.c_str());
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = chain.first();
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    check(instance_->vkCreateDevice(device_.handle, &info, nullptr, &handle_), "vkCreateDevice");
    std::string missing;
    if (!vulkan::load_device(*instance_, handle_, device_.api_version, vk_, missing))
      fail("'" + name() + "' has no function " + missing);
    vk_.vkGetDeviceQueue(handle_, device_.compute.index, 0, &queue_);
  }

  std::unique_ptr<vulkan::Instance> instance_;
  FoundDevice device_;
  VkDevice handle_ = nullptr;
  vulkan::DeviceFunctions vk_;
  VkQueue queue_ = nullptr;
  VkSemaphore ended_ = nullptr;
  uint64_t submitted_ = 0;
};

KernelCode kernel_of(const FoundDevice& device, int64_t count) {
  const stripe::Program program = must(stripe::parse({"chain", elementwise(count)}));
  semtree::SourceOptions options = vulkan::source_options(device.limits);
  options.group_points = std::min(device.limits.group_lanes,
                                  device.is_software ? kGroupPointsOfSoftware : kGroupPoints);
  return must(vulkan::build_kernels(program, device.features, options)).at(0);
}

class VulkanChain final : public DriversChain {
 public:
  VulkanChain(VulkanDriver& driver, uint32_t kernels, int64_t count)
      : driver_(driver), vk_(driver.vk()), device_(driver.handle()) {
    const KernelCode code = kernel_of(driver.device(), count);
    words_ = must(vulkan::emit(code, driver.device().features));
    for (Tensor& tensor : tensors_) make(tensor, static_cast<uint64_t>(count) * sizeof(float));
    make_pipeline();
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = driver.device().compute.index;
    driver_.check(vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBuffer commands[2] = {};
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 2;
    driver_.check(vk_.vkAllocateCommandBuffers(device_, &info, commands),
                  "vkAllocateCommandBuffers");
    begin(commands[0]);
    for (const Tensor& tensor : tensors_)
      vk_.vkCmdFillBuffer(commands[0], tensor.buffer, 0, VK_WHOLE_SIZE, 0);
    end(commands[0]);
    driver_.run(commands[0]);
    commands_ = commands[1];
    record(kernels, code);
  }
  VulkanChain(const VulkanChain&) = delete;
  ~VulkanChain() override {
    vk_.vkDestroyCommandPool(device_, pool_, nullptr);
    vk_.vkDestroyPipeline(device_, pipeline_, nullptr);
    vk_.vkDestroyPipelineLayout(device_, layout_, nullptr);
    for (const Tensor& tensor : tensors_) {
      vk_.vkDestroyBuffer(device_, tensor.buffer, nullptr);
      vk_.vkFreeMemory(device_, tensor.memory, nullptr);
    }
  }

  void run() override { driver_.run(commands_); }

  void must_be(const hal::Library& library) const override {
    const std::string text = must(vulkan::disassemble(words_));
    for (const hal::NamedText& theirs : must(library.source()))
      if (theirs.text == text) return;
    must(Status(StatusCode::internal, "the plugin's kernel is not the one of the driver's chain"));
  }

 private:
  struct Tensor {
    VkBuffer buffer = nullptr;
    VkDeviceMemory memory = nullptr;
    VkDeviceAddress address = 0;
  };

  void make(Tensor& out, uint64_t bytes) const {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    driver_.check(vk_.vkCreateBuffer(device_, &info, nullptr, &out.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vk_.vkGetBufferMemoryRequirements(device_, out.buffer, &needs);
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.pNext = &flags;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = driver_.memory_type(needs.memoryTypeBits);
    driver_.check(vk_.vkAllocateMemory(device_, &memory, nullptr, &out.memory), "vkAllocateMemory");
    driver_.check(vk_.vkBindBufferMemory(device_, out.buffer, out.memory, 0), "vkBindBufferMemory");
    VkBufferDeviceAddressInfo of{};
    of.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    of.buffer = out.buffer;
    out.address = vk_.vkGetBufferDeviceAddress(device_, &of);
  }

  void make_pipeline() {
    VkPushConstantRange range{};
    range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    range.size = sizeof(VkDeviceAddress) * 2;
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    driver_.check(vk_.vkCreatePipelineLayout(device_, &layout, nullptr, &layout_),
                  "vkCreatePipelineLayout");
    VkShaderModuleCreateInfo module{};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = words_.size() * sizeof words_[0];
    module.pCode = words_.data();
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.layout = layout_;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.pName = "main";
    driver_.check(vk_.vkCreateShaderModule(device_, &module, nullptr, &info.stage.module),
                  "vkCreateShaderModule");
    driver_.check(vk_.vkCreateComputePipelines(device_, nullptr, 1, &info, nullptr, &pipeline_),
                  "vkCreateComputePipelines");
    vk_.vkDestroyShaderModule(device_, info.stage.module, nullptr);
  }

  void begin(VkCommandBuffer commands) const {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    driver_.check(vk_.vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
  }
  void end(VkCommandBuffer commands) const {
    driver_.check(vk_.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  }

  void record(uint32_t kernels, const KernelCode& code) const {
    VkMemoryBarrier2 memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    memory.srcStageMask = memory.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    memory.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    memory.dstAccessMask =
        VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    VkDependencyInfo barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    barrier.memoryBarrierCount = 1;
    barrier.pMemoryBarriers = &memory;
    const VkDeviceAddress addresses[] = {tensors_[0].address, tensors_[1].address};
    begin(commands_);
    vk_.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    // A program whose kernels have the same arguments pushes them once.
    vk_.vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof addresses,
                           addresses);
    for (uint32_t n = 0; n < kernels; ++n) {
      if (n > 0) vk_.vkCmdPipelineBarrier2(commands_, &barrier);
      vk_.vkCmdDispatch(commands_, static_cast<uint32_t>(code.groups[0]),
                        static_cast<uint32_t>(code.groups[1]),
                        static_cast<uint32_t>(code.groups[2]));
    }
    end(commands_);
  }

  VulkanDriver& driver_;
  const vulkan::DeviceFunctions& vk_;
  const VkDevice device_;
  std::vector<uint32_t> words_;
  Tensor tensors_[2];  // R, A
  VkPipelineLayout layout_ = nullptr;
  VkPipeline pipeline_ = nullptr;
  VkCommandPool pool_ = nullptr;
  VkCommandBuffer commands_ = nullptr;
};

std::unique_ptr<DriversChain> VulkanDriver::chain(uint32_t kernels, int64_t count) {
  return std::make_unique<VulkanChain>(*this, kernels, count);
}

}  // namespace

std::unique_ptr<ChainDriver> open_vulkan_chains(const std::string& text) {
  return std::make_unique<VulkanDriver>(text);
}

}  // namespace stria::bench
