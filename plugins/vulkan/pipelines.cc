// SPDX-License-Identifier: Apache-2.0
#include "pipelines.h"

#include <optional>

#include "spirv_file.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

// The device and its driver, with its version, are in the key; the data itself says so again, and a
// driver ignores what is not its own.
std::string key_of(const Context& context) {
  return "vulkan, pipelines 1, " + context.device().build_key;
}

}  // namespace

Pipelines::Pipelines(Context& context) : context_(context) {
  const std::optional<std::string> data = code_generator::kept(context.host(), key_of(context));
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  if (data) {
    info.initialDataSize = data->size();
    info.pInitialData = data->data();
    kept_bytes_ = data->size();
  }
  context.check(context.vk().vkCreatePipelineCache(context.handle(), &info, nullptr, &cache_),
                "vkCreatePipelineCache");
}

Pipelines::~Pipelines() {
  if (context_.lost()) return;
  keep();
  const DeviceFunctions& vk = context_.vk();
  for (const auto& [bytes, layout] : layouts_)
    vk.vkDestroyPipelineLayout(context_.handle(), layout, nullptr);
  vk.vkDestroyPipelineCache(context_.handle(), cache_, nullptr);
}

VkPipelineLayout Pipelines::layout(uint32_t push_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  VkPipelineLayout& layout = layouts_[push_bytes];
  if (layout) return layout;
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = push_bytes;
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  if (push_bytes > 0) {
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
  }
  const VkResult code =
      context_.vk().vkCreatePipelineLayout(context_.handle(), &info, nullptr, &layout);
  if (code != VK_SUCCESS) layouts_.erase(push_bytes);
  context_.check(code, "vkCreatePipelineLayout");
  return layout;
}

VkPipeline Pipelines::build(std::span<const uint32_t> words, const PipelineParts& parts) {
  context_.check_not_lost();
  keep_if_asked(words);
  const DeviceFunctions& vk = context_.vk();
  const FoundDevice& device = context_.device();
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.layout = layout(parts.push_bytes);
  VkPipelineShaderStageCreateInfo& stage = info.stage;
  stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  stage.pName = "main";
  // Some drivers choose between sizes by themselves, and not always alike.
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroup.requiredSubgroupSize = device.subgroup;
  if (device.subgroup > 0) {
    stage.pNext = &subgroup;
    if (device.flags.computeFullSubgroups && parts.group_lanes % device.subgroup == 0)
      stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  const auto refuse = [&](VkResult code, const char* call) {
    if (code == VK_ERROR_DEVICE_LOST)
      context_.check(code, std::string(call) + " of '" + parts.symbol + "'");
    sdk::Failure failure =
        failure_of(code, std::string(call) + " of '" + parts.symbol + "'", context_.name());
    failure.message += "; " + place_of_refused(words);
    throw sdk::Error(std::move(failure));
  };
  VkShaderModuleCreateInfo code_info{};
  code_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code_info.codeSize = words.size_bytes();
  code_info.pCode = words.data();
  VkResult code = vk.vkCreateShaderModule(context_.handle(), &code_info, nullptr, &stage.module);
  if (code != VK_SUCCESS) refuse(code, "vkCreateShaderModule");
  VkPipeline pipeline = nullptr;
  code = vk.vkCreateComputePipelines(context_.handle(), cache_, 1, &info, nullptr, &pipeline);
  vk.vkDestroyShaderModule(context_.handle(), stage.module, nullptr);
  if (code != VK_SUCCESS) refuse(code, "vkCreateComputePipelines");
  std::lock_guard<std::mutex> lock(mutex_);
  ++built_;
  return pipeline;
}

void Pipelines::keep() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (built_ == 0 || context_.lost()) return;
  built_ = 0;
  const DeviceFunctions& vk = context_.vk();
  size_t bytes = 0;
  if (vk.vkGetPipelineCacheData(context_.handle(), cache_, &bytes, nullptr) != VK_SUCCESS) return;
  // It only grows: the same size is the same contents.
  if (bytes <= kept_bytes_) return;
  std::string data(bytes, '\0');
  if (vk.vkGetPipelineCacheData(context_.handle(), cache_, &bytes, data.data()) != VK_SUCCESS)
    return;
  data.resize(bytes);
  code_generator::keep(context_.host(), key_of(context_), data);
  kept_bytes_ = bytes;
}

}  // namespace stria::vulkan
