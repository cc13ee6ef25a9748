// SPDX-License-Identifier: Apache-2.0
#include "launch_batch.h"

#include <algorithm>
#include <utility>

#include "buffer.h"
#include "pipelines.h"
#include "stria/semtree/c/dialect.h"

namespace stria::vulkan {
namespace {

// What one vkCmdUpdateBuffer takes at most.
constexpr uint64_t kUpdateBytes = 65536;
// Names in a message.
constexpr size_t kMostNames = 8;

VkDeviceAddress address_of(const sdk::Argument& argument) {
  return static_cast<const VulkanBuffer&>(*argument.buffer).memory().address() + argument.offset;
}

std::vector<VkDeviceAddress> addresses_of(const LaunchBatch::One& launch) {
  std::vector<VkDeviceAddress> out;
  for (const sdk::Argument& argument : launch.arguments) out.push_back(address_of(argument));
  return out;
}

bool is_idle(const KernelCode& code) {
  return std::find(code.groups.begin(), code.groups.end(), 0) != code.groups.end();
}

}  // namespace

LaunchBatch batch_of(std::vector<sdk::Launch> launches, bool each) {
  LaunchBatch out;
  out.each = each;
  out.launches.reserve(launches.size());
  out.key.reserve(launches.size() * 8 + 1);
  out.key.push_back(each);
  for (sdk::Launch& launch : launches) {
    LaunchBatch::One one;
    one.kernel = sdk::Ref<VulkanKernel>(static_cast<VulkanKernel*>(launch.kernel.get()));
    one.arguments = std::move(launch.arguments);
    // Of one kernel the number of arguments is always the same, so no two batches have one key.
    out.key.push_back(one.kernel->id());
    for (const sdk::Argument& argument : one.arguments) out.key.push_back(address_of(argument));
    out.key.push_back(launch.after_count);
    for (uint64_t a = 0; a < launch.after_count; ++a) {
      out.after.push_back(launch.after[a]);
      out.key.push_back(launch.after[a]);
    }
    one.after_end = out.after.size();
    out.launches.push_back(std::move(one));
  }
  return out;
}

BatchRecording::BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch,
                               bool again)
    : Recording(context, queue, batch.each ? static_cast<uint32_t>(batch.launches.size()) + 1 : 2) {
  for (const LaunchBatch::One& launch : batch.launches) kernels_.push_back(launch.kernel);
  begin(again);
  write_addresses(batch);
  wait_for_all();
  mark();
  VkPipeline bound = nullptr;
  size_t first_after = 0, last_barrier = 0;
  uint64_t addresses_at = 0;
  for (size_t n = 0; n < batch.launches.size(); ++n) {
    const LaunchBatch::One& launch = batch.launches[n];
    const KernelCode& code = launch.kernel->code();
    bool waits = batch.each && n > 0;
    for (size_t a = first_after; a < launch.after_end; ++a)
      waits = waits || batch.after[a] >= last_barrier;
    first_after = launch.after_end;
    if (waits) {
      wait_for_kernels();
      last_barrier = n;
    }
    std::vector<VkDeviceAddress> addresses = addresses_of(launch);
    const bool aligned =
        std::all_of(addresses.begin(), addresses.end(), [](VkDeviceAddress address) {
          return address % static_cast<uint64_t>(semtree::kMemoryAlignment) == 0;
        });
    if (code.addresses_in_buffer) {
      const uint64_t bytes = addresses.size() * sizeof addresses[0];
      addresses = {addresses_.address() + addresses_at};
      addresses_at += bytes;
    }
    if (!is_idle(code)) {
      const VkPipeline pipeline = launch.kernel->pipeline(!aligned);
      if (pipeline != bound)
        vk().vkCmdBindPipeline(commands(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      bound = pipeline;
      const uint32_t push_bytes = launch.kernel->push_bytes();
      if (push_bytes > 0)
        vk().vkCmdPushConstants(commands(), context.pipelines().layout(push_bytes),
                                VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes, addresses.data());
      vk().vkCmdDispatch(commands(), static_cast<uint32_t>(code.groups[0]),
                         static_cast<uint32_t>(code.groups[1]),
                         static_cast<uint32_t>(code.groups[2]));
    }
    if (batch.each) mark();
  }
  if (!batch.each) mark();
  if (context.is_direct()) show_to_host();
  end();
}

void BatchRecording::write_addresses(const LaunchBatch& batch) {
  std::vector<VkDeviceAddress> all;
  for (const LaunchBatch::One& launch : batch.launches)
    if (launch.kernel->code().addresses_in_buffer) {
      const std::vector<VkDeviceAddress> own = addresses_of(launch);
      all.insert(all.end(), own.begin(), own.end());
    }
  const uint64_t bytes = all.size() * sizeof(VkDeviceAddress);
  if (bytes == 0) return;
  addresses_ = context().device_memory().take(bytes);
  // Nobody else uses this memory: the barrier behind is enough.
  for (uint64_t at = 0; at < bytes; at += kUpdateBytes)
    vk().vkCmdUpdateBuffer(commands(), addresses_.buffer(), addresses_.offset() + at,
                           std::min(kUpdateBytes, bytes - at),
                           reinterpret_cast<const std::byte*>(all.data()) + at);
}

std::string BatchRecording::what() const {
  std::string out = kernels_.size() == 1 ? "kernel " : "kernels ";
  for (size_t n = 0; n < std::min(kernels_.size(), kMostNames); ++n)
    out += (n > 0 ? ", '" : "'") + kernels_[n]->code().symbol + "'";
  if (kernels_.size() > kMostNames)
    out += " and " + std::to_string(kernels_.size() - kMostNames) + " more";
  return out;
}

RecordingCache::Entry* RecordingCache::find(const std::vector<uint64_t>& key) {
  for (auto at = entries_.begin(); at != entries_.end(); ++at)
    if (at->key == key) {
      entries_.splice(entries_.begin(), entries_, at);
      return &entries_.front();
    }
  return nullptr;
}

sdk::Ref<Recording> RecordingCache::take(const LaunchBatch& batch) {
  bool keeps = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const Entry* entry = find(batch.key)) {
      for (const sdk::Ref<Recording>& copy : entry->copies)
        if (!copy->in_use()) {
          copy->set_in_use(true);
          return copy;
        }
      // Beyond that each is for one use: nothing here ever waits.
      keeps = entry->copies.size() < kMostCopies;
    }
  }
  auto made = sdk::make<BatchRecording>(context_, queue_, batch, keeps);
  made->set_in_use(true);
  if (!keeps) return made;
  std::list<Entry> gone;  // its recordings go without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  Entry* entry = find(batch.key);
  if (!entry) {
    entries_.push_front({batch.key, {}});
    entry = &entries_.front();
    if (entries_.size() > kMostBatches) gone.splice(gone.end(), entries_, --entries_.end());
  }
  if (entry->copies.size() < kMostCopies) entry->copies.push_back(made);
  return made;
}

}  // namespace stria::vulkan
