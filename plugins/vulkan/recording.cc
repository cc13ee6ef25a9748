// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

namespace stria::vulkan {

Recording::Recording(Context& context, DeviceQueue& queue, uint32_t marks, uint32_t part_marks)
    : context_(context), queue_(queue), slot_(queue.take_slot(marks + part_marks)) {
  if (!slot_.queries) return;
  mark_count_ = marks;
  part_mark_count_ = part_marks;
}

Recording::~Recording() {
  queue_.give_slot(slot_);
  for (const CommandSlot& slot : more_) queue_.give_slot(slot);
}

void Recording::begin_buffer() const {
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  if (!again_) info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  context_.check(vk().vkBeginCommandBuffer(commands(), &info), "vkBeginCommandBuffer");
}

void Recording::begin(bool again) {
  again_ = again;
  begin_buffer();
  if (mark_count_ > 0 && !context_.device().flags.hostQueryReset)
    vk().vkCmdResetQueryPool(slot_.buffer, slot_.queries, 0, mark_count_ + part_mark_count_);
}

void Recording::begin_part() {
  end();
  more_.reserve(more_.size() + 1);
  more_.push_back(queue_.take_slot(0));
  begin_buffer();
  wait_for_all();
}

void Recording::barrier(VkPipelineStageFlags2 from, VkAccessFlags2 written,
                        VkPipelineStageFlags2 to, VkAccessFlags2 used) {
  VkMemoryBarrier2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  memory.srcStageMask = from;
  memory.srcAccessMask = written;
  memory.dstStageMask = to;
  memory.dstAccessMask = used;
  VkDependencyInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &memory;
  vk().vkCmdPipelineBarrier2(commands(), &info);
}

void Recording::wait_for_all() {
  barrier(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
          VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
          VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
}
void Recording::wait_for_kernels() {
  barrier(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
          VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
          VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}
void Recording::show_to_host() {
  barrier(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
          VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT);
}

void Recording::write_mark(uint32_t number) const {
  vk().vkCmdWriteTimestamp2(commands(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, slot_.queries,
                            number);
}

void Recording::mark() {
  if (marked_ < mark_count_) write_mark(marked_);
  ++marked_;
}

void Recording::mark_part() {
  if (part_marked_ < part_mark_count_) write_mark(mark_count_ + part_marked_);
  ++part_marked_;
}

void Recording::end() { context_.check(vk().vkEndCommandBuffer(commands()), "vkEndCommandBuffer"); }

void Recording::reset_times() {
  if (mark_count_ > 0 && context_.device().flags.hostQueryReset)
    vk().vkResetQueryPool(context_.handle(), slot_.queries, 0, mark_count_ + part_mark_count_);
}

std::vector<uint64_t> Recording::times(uint32_t first, uint32_t count) const {
  std::vector<uint64_t> out(count);
  if (count == 0) return out;
  if (vk().vkGetQueryPoolResults(context_.handle(), slot_.queries, first, count,
                                 out.size() * sizeof out[0], out.data(), sizeof out[0],
                                 VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
    return {};
  for (uint64_t& time : out) time = queue_.nanoseconds(time);
  return out;
}

}  // namespace stria::vulkan
