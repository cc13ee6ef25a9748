// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>

#include "context.h"

namespace stria::vulkan {

struct Block {
  VkDeviceMemory memory = nullptr;
  VkBuffer buffer = nullptr;
  VkDeviceAddress address = 0;
  std::byte* mapped = nullptr;
  uint64_t bytes = 0;
  uint64_t used_bytes = 0;
  std::map<uint64_t, uint64_t> free;  // offset -> bytes; neighbours are one
};

namespace {

uint64_t rounded_up(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

void destroy(const Context& context, const Block& block) {
  const DeviceFunctions& vk = context.vk();
  if (block.buffer) vk.vkDestroyBuffer(context.handle(), block.buffer, nullptr);
  if (block.memory) vk.vkFreeMemory(context.handle(), block.memory, nullptr);
}

}  // namespace

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(allocator_, other.allocator_);
  std::swap(block_, other.block_);
  std::swap(offset_, other.offset_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Memory::~Memory() {
  if (block_) allocator_->give(*block_, offset_, bytes_);
}
VkBuffer Memory::buffer() const { return block_ ? block_->buffer : nullptr; }
VkDeviceAddress Memory::address() const { return block_ ? block_->address + offset_ : 0; }
std::byte* Memory::mapped() const {
  return block_ && block_->mapped ? block_->mapped + offset_ : nullptr;
}

Allocator::Allocator(Context& context, MemoryKind kind) : context_(context), kind_(kind) {}

Allocator::~Allocator() {
  if (context_.lost()) return;
  for (const auto& block : blocks_) destroy(context_, *block);
}

bool Allocator::take_from(Block& block, uint64_t bytes, uint64_t& offset) {
  for (auto at = block.free.begin(); at != block.free.end(); ++at) {
    if (at->second < bytes) continue;
    offset = at->first;
    const uint64_t rest = at->second - bytes;
    block.free.erase(at);
    if (rest > 0) block.free[offset + bytes] = rest;
    if (block.used_bytes == 0) idle_bytes_ -= block.bytes;
    block.used_bytes += bytes;
    return true;
  }
  return false;
}

Memory Allocator::take(uint64_t bytes) {
  context_.check_not_lost();
  Memory out;
  if (bytes == 0) return out;
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t largest = context_.device().largest_buffer_bytes;
  if (largest > 0 && bytes > largest)
    refuse(bytes, "one buffer has " + std::to_string(largest) + " at most", VK_SUCCESS);
  if (kind_.limit_bytes > 0 && bytes > kind_.limit_bytes)
    refuse(bytes, "there are " + std::to_string(kind_.limit_bytes) + " in all", VK_SUCCESS);
  const uint64_t rounded = rounded_up(bytes, kAlignment);
  out.bytes_ = rounded;
  const auto find = [&] {
    for (const auto& block : blocks_)
      if (take_from(*block, rounded, out.offset_)) {
        out.block_ = block.get();
        return true;
      }
    return false;
  };
  if (!find()) {
    // A block of the usual size, or, where that is too much, of what is needed now.
    std::vector<uint64_t> sizes;
    if (rounded <= kind_.block_bytes / 2) sizes.push_back(kind_.block_bytes);
    sizes.push_back(rounded);
    VkResult code = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const char* failed = "";
    for (const bool idle_ones_gone : {false, true}) {
      if (idle_ones_gone) free_idle(0);
      for (const uint64_t size : sizes) {
        code = add_block(size, failed);
        if (code == VK_SUCCESS) break;
      }
      if (code == VK_SUCCESS || code == VK_ERROR_DEVICE_LOST) break;
    }
    if (code == VK_ERROR_DEVICE_LOST) context_.check(code, failed);
    if (code == VK_SUCCESS && !find()) code = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (code != VK_SUCCESS) {
      out.bytes_ = 0;
      // The limit is ours: the driver has not been asked.
      if (!*failed) refuse(bytes, "the limit is " + std::to_string(kind_.limit_bytes), VK_SUCCESS);
      std::string why = std::string(failed) + ": " + name_of_code(code);
      if (const uint64_t promised = context_.device().promised_allocation_bytes;
          promised > 0 && bytes > promised)
        why += ", the driver promises " + std::to_string(promised) + " in one piece at most";
      refuse(bytes, why, code);
    }
  }
  out.allocator_ = this;
  live_bytes_ += rounded;
  ++live_count_;
  return out;
}

void Allocator::refuse(uint64_t bytes, const std::string& why, VkResult code) const {
  sdk::Failure failure;
  failure.code = STRIA_OUT_OF_MEMORY;
  failure.message = "no " + std::string(kind_.what) + " for " + std::to_string(bytes) +
                    " bytes on '" + context_.name() + "': " + why + "; " +
                    std::to_string(live_count_) + " buffers of " + std::to_string(live_bytes_) +
                    " bytes are in use, in blocks of " + std::to_string(block_bytes_) + " bytes";
  if (code != VK_SUCCESS) {
    failure.native_code = code;
    failure.native_message = name_of_code(code);
  }
  throw sdk::Error(std::move(failure));
}

VkResult Allocator::add_block(uint64_t bytes, const char*& failed) {
  failed = "";
  if (kind_.limit_bytes > 0 &&
      bytes > kind_.limit_bytes - std::min(kind_.limit_bytes, block_bytes_))
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const DeviceFunctions& vk = context_.vk();
  const VkDevice device = context_.handle();
  auto block = std::make_unique<Block>();
  block->bytes = bytes;
  const auto give_up = [&](VkResult code, const char* what) {
    failed = what;
    if (code != VK_ERROR_DEVICE_LOST) destroy(context_, *block);
    return code;
  };
  VkResult code = context_.create_buffer(bytes, block->buffer);
  if (code != VK_SUCCESS) return give_up(code, "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vk.vkGetBufferMemoryRequirements(device, block->buffer, &needs);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = needs.size;
  info.memoryTypeIndex = kind_.type;
  code = vk.vkAllocateMemory(device, &info, nullptr, &block->memory);
  if (code != VK_SUCCESS) {
    block->memory = nullptr;
    return give_up(code, "vkAllocateMemory");
  }
  code = vk.vkBindBufferMemory(device, block->buffer, block->memory, 0);
  if (code != VK_SUCCESS) return give_up(code, "vkBindBufferMemory");
  if (kind_.mapped) {
    void* mapped = nullptr;
    code = vk.vkMapMemory(device, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (code != VK_SUCCESS) return give_up(code, "vkMapMemory");
    block->mapped = static_cast<std::byte*>(mapped);
  }
  VkBufferDeviceAddressInfo of{};
  of.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  of.buffer = block->buffer;
  block->address = vk.vkGetBufferDeviceAddress(device, &of);
  block->free[0] = bytes;
  block_bytes_ += bytes;
  idle_bytes_ += bytes;
  blocks_.push_back(std::move(block));
  return VK_SUCCESS;
}

void Allocator::give(Block& block, uint64_t offset, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  live_bytes_ -= bytes;
  --live_count_;
  block.used_bytes -= bytes;
  auto next = block.free.lower_bound(offset);
  if (next != block.free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = block.free.erase(next);
  }
  if (next != block.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      bytes = 0;
    }
  }
  if (bytes > 0) block.free[offset] = bytes;
  if (block.used_bytes > 0) return;
  idle_bytes_ += block.bytes;
  free_idle(kind_.idle_bytes);
}

void Allocator::free_idle(uint64_t keep_bytes) {
  if (idle_bytes_ <= keep_bytes || context_.lost()) return;
  // The largest first: they are the least likely to be asked for again as they are.
  std::vector<Block*> idle;
  for (const auto& block : blocks_)
    if (block->used_bytes == 0) idle.push_back(block.get());
  std::stable_sort(idle.begin(), idle.end(),
                   [](const Block* a, const Block* b) { return a->bytes > b->bytes; });
  for (const Block* gone : idle) {
    if (idle_bytes_ <= keep_bytes) break;
    idle_bytes_ -= gone->bytes;
    block_bytes_ -= gone->bytes;
    destroy(context_, *gone);
    blocks_.erase(std::find_if(blocks_.begin(), blocks_.end(),
                               [gone](const auto& block) { return block.get() == gone; }));
  }
}

}  // namespace stria::vulkan
