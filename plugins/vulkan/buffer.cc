// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include "command.h"
#include "queue.h"
#include "recording.h"

namespace stria::vulkan {
namespace {

// Done when others are; whoever waits for it ends their work himself.
class ReadyWork final : public sdk::Work {
 public:
  explicit ReadyWork(const sdk::Host& host) : Work(host, host.tracker(), true) {}
  void begin(sdk::Waits waits) {
    for (uint64_t i = 0; i < waits.count; ++i) of_.push_back(sdk::Ref<sdk::Event>(waits.events[i]));
    start(waits);
  }
  bool wait(uint64_t timeout_ns) override {
    std::vector<sdk::Ref<sdk::Event>> open;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      open = of_;
    }
    for (const auto& event : open)
      if (!event->done()) event->wait(timeout_ns == UINT64_MAX ? timeout_ns : 1);
    return Work::wait(timeout_ns);
  }

 protected:
  void run() override {}
  void forget() override {
    std::vector<sdk::Ref<sdk::Event>> over;
    std::lock_guard<std::mutex> lock(mutex_);
    over.swap(of_);
  }

 private:
  std::mutex mutex_;
  std::vector<sdk::Ref<sdk::Event>> of_;  // guarded by mutex_
};

sdk::Ref<sdk::Event> ready_after(const sdk::Host& host, sdk::Waits waits) {
  auto ready = sdk::make<ReadyWork>(host);
  ready->begin(waits);
  return ready;
}

}  // namespace

std::byte* VulkanBuffer::data() {
  if (std::byte* mapped = memory_.mapped()) return mapped;
  throw sdk::Error(STRIA_INTERNAL, "memory of a device has no address on the host");
}

sdk::Ref<sdk::Event> VulkanBuffer::copy(const sdk::Ref<Staging>& staging, bool to_device,
                                        sdk::Waits waits) {
  sdk::Ref<VulkanBuffer> self(this);
  Queue& queue = context_.transfer_queue();
  return start(
      queue, context_.host().tracker(),
      [self, staging, to_device, &queue]() -> sdk::Ref<Recording> {
        auto recording =
            sdk::make<TransferRecording>(self->context_, queue.device_queue(),
                                         to_device ? "copy to the device" : "copy to the host");
        const Memory &host = staging->memory, &device = self->memory_;
        VkBufferCopy region{host.offset(), device.offset() + staging->offset, staging->bytes};
        if (!to_device) std::swap(region.srcOffset, region.dstOffset);
        recording->begin(false);
        recording->wait_for_all();
        recording->mark();
        recording->vk().vkCmdCopyBuffer(recording->commands(),
                                        to_device ? host.buffer() : device.buffer(),
                                        to_device ? device.buffer() : host.buffer(), 1, &region);
        recording->mark();
        if (!to_device) recording->show_to_host();
        recording->end();
        return recording;
      },
      1, waits);
}

void* VulkanBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                        sdk::Ref<sdk::Event>* done) {
  const sdk::Host& host = context_.host();
  context_.check_not_lost();
  Mapped mapped{{}, mode, {}};
  void* memory = nullptr;
  if (bytes == 0 || memory_.mapped()) {
    // Nothing is read or written where there are no bytes.
    static std::byte nothing;
    memory = bytes == 0 ? &nothing : memory_.mapped() + offset;
    *done = ready_after(host, waits);
  } else {
    mapped.staging = sdk::make<Staging>(context_.staging_memory().take(bytes), offset, bytes);
    memory = mapped.staging->memory.mapped();
    *done = mode == sdk::MapMode::discard ? ready_after(host, waits)
                                          : copy(mapped.staging, false, waits);
  }
  mapped.ready = *done;
  std::lock_guard<std::mutex> lock(mutex_);
  mapped_.emplace(memory, std::move(mapped));
  return memory;
}

sdk::Ref<sdk::Event> VulkanBuffer::unmap(void* memory) {
  Mapped mapped;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto at = mapped_.find(memory);
    if (at == mapped_.end()) throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
    mapped = std::move(at->second);
    mapped_.erase(at);
  }
  // A mapping that failed has nothing to write back.
  sdk::Event* const ready = mapped.ready.get();
  const sdk::Waits waits{&ready, 1};
  if (!mapped.staging || mapped.mode == sdk::MapMode::read)
    return ready_after(context_.host(), waits);
  return copy(mapped.staging, true, waits);
}

}  // namespace stria::vulkan
