// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "buffer.h"
#include "queue.h"
#include "recording.h"

namespace stria::vulkan {
namespace {

// A pattern is written out to so many bytes, which are copied so often at most; more bytes where
// that is not enough.
constexpr uint64_t kPatternBytes = uint64_t{1} << 20;
constexpr uint64_t kPatternCopies = 4096;

struct BatchAtWork {
  explicit BatchAtWork(LaunchBatch launches) : batch(std::move(launches)) {}
  LaunchBatch batch;
  std::atomic<bool> is_recorded{false};  // then the recording does not read the batch any more
};

const Memory& memory_of(const sdk::Argument& argument) {
  return static_cast<const VulkanBuffer&>(*argument.buffer).memory();
}

// The shortest beginning of the pattern that repeated gives the same bytes; its size is a power of
// two, as the pattern's is.
size_t period_of(const std::vector<std::byte>& pattern) {
  size_t size = pattern.size();
  while (size > 1 && std::equal(pattern.begin(), pattern.begin() + static_cast<ptrdiff_t>(size / 2),
                                pattern.begin() + static_cast<ptrdiff_t>(size / 2)))
    size /= 2;
  return size;
}

// Fills by the device's own command, which knows words alone.
void fill_words(const Recording& recording, const sdk::Argument& target, uint64_t bytes,
                const std::vector<std::byte>& pattern, size_t period) {
  std::byte word[4];
  for (size_t i = 0; i < sizeof word; ++i) word[i] = pattern[i % period];
  uint32_t value = 0;
  std::memcpy(&value, word, sizeof value);
  recording.vk().vkCmdFillBuffer(recording.commands(), memory_of(target).buffer(),
                                 memory_of(target).offset() + target.offset, bytes, value);
}

// Copies the pattern, written out in staging memory, to `bytes` bytes from target + `from` on.
void fill_by_copies(Context& context, TransferRecording& recording, const sdk::Argument& target,
                    uint64_t from, uint64_t bytes, const std::vector<std::byte>& pattern) {
  // A multiple of every pattern's size.
  const uint64_t scaled = (bytes / kPatternCopies + 15) / 16 * 16;
  const uint64_t piece = std::min(bytes, std::max(kPatternBytes, scaled));
  Memory staging = context.staging_memory().take(piece);
  for (uint64_t i = 0; i < piece; ++i) staging.mapped()[i] = pattern[(from + i) % pattern.size()];
  std::vector<VkBufferCopy> regions;
  for (uint64_t at = 0; at < bytes; at += piece)
    regions.push_back({staging.offset(), memory_of(target).offset() + target.offset + from + at,
                       std::min(piece, bytes - at)});
  recording.vk().vkCmdCopyBuffer(recording.commands(), staging.buffer(), memory_of(target).buffer(),
                                 static_cast<uint32_t>(regions.size()), regions.data());
  recording.hold(std::move(staging));
}

}  // namespace

VulkanExecutor::VulkanExecutor(Context& context)
    : Executor(context.host()),
      context_(context),
      queue_(context.take_queue()),
      recordings_(sdk::make<RecordingCache>(context, queue_.device_queue())) {}

VulkanExecutor::~VulkanExecutor() { context_.give_queue(queue_); }

sdk::Ref<sdk::Event> VulkanExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                            std::vector<sdk::Argument> arguments,
                                            sdk::Waits waits) {
  std::vector<sdk::Launch> launches;
  launches.push_back({kernel, std::move(arguments)});
  return submit(std::move(launches), waits, nullptr);
}

sdk::Ref<sdk::Event> VulkanExecutor::submit(std::vector<sdk::Launch> launches, sdk::Waits waits,
                                            std::vector<sdk::Ref<sdk::Event>>* each) {
  if (launches.empty()) {
    if (each) each->clear();
    return sdk::when_done(host(), tracker(), waits);
  }
  const size_t count = launches.size();
  // Of one launch the batch's times are its own.
  auto work = std::make_shared<BatchAtWork>(batch_of(std::move(launches), each && count > 1));
  sdk::Ref<sdk::Event> done = start(
      queue_, tracker(),
      [work, recordings = recordings_] {
        sdk::Ref<Recording> recording = recordings->take(work->batch);
        work->is_recorded.store(true, std::memory_order_release);
        return recording;
      },
      count, waits, each);
  if (count > 1 && work->is_recorded.load(std::memory_order_acquire)) work->batch.keep_only_used();
  return done;
}

sdk::Ref<sdk::Event> VulkanExecutor::copy(sdk::Argument source, sdk::Argument target,
                                          uint64_t bytes, sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  return start(
      queue_, tracker(),
      [this_context = &context_, queue = &queue_.device_queue(), source = std::move(source),
       target = std::move(target), bytes]() -> sdk::Ref<Recording> {
        auto recording = sdk::make<TransferRecording>(*this_context, *queue, "copy");
        const VkBufferCopy region{memory_of(source).offset() + source.offset,
                                  memory_of(target).offset() + target.offset, bytes};
        recording->begin(false);
        recording->wait_for_all();
        recording->mark();
        recording->vk().vkCmdCopyBuffer(recording->commands(), memory_of(source).buffer(),
                                        memory_of(target).buffer(), 1, &region);
        recording->mark();
        if (this_context->is_direct()) recording->show_to_host();
        recording->end();
        return recording;
      },
      1, waits);
}

sdk::Ref<sdk::Event> VulkanExecutor::fill(sdk::Argument target, uint64_t bytes,
                                          std::vector<std::byte> pattern, sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  return start(
      queue_, tracker(),
      [this_context = &context_, queue = &queue_.device_queue(), target = std::move(target), bytes,
       pattern = std::move(pattern)]() -> sdk::Ref<Recording> {
        auto recording = sdk::make<TransferRecording>(*this_context, *queue, "fill");
        recording->begin(false);
        recording->wait_for_all();
        recording->mark();
        const size_t period = period_of(pattern);
        const bool by_words = period <= 4 && target.offset % 4 == 0;
        const uint64_t words = by_words ? bytes / 4 * 4 : 0;
        if (words > 0) fill_words(*recording, target, words, pattern, period);
        if (words < bytes)
          fill_by_copies(*this_context, *recording, target, words, bytes - words, pattern);
        recording->mark();
        if (this_context->is_direct()) recording->show_to_host();
        recording->end();
        return recording;
      },
      1, waits);
}

}  // namespace stria::vulkan
