// SPDX-License-Identifier: Apache-2.0
// Kernels that are launched together, and the recordings of them: a batch that comes again, with
// the same kernels and addresses, is not recorded again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "library.h"
#include "recording.h"
#include "stria/sdk/executor.h"

namespace stria::vulkan {

// Plain data; holds what the kernels use.
struct LaunchBatch {
  // Of VulkanKernels and VulkanBuffers. Their `after` is no longer valid; after_count is.
  std::vector<sdk::Launch> launches;
  std::vector<uint32_t> after;   // positions of earlier launches, one launch after the other
  std::vector<double> group_ns;  // VulkanKernel::group_ns of each launch, as the recording has it
  bool each = false;             // times of each launch: they run one after another
  // All that the commands depend on: two batches with the same are recorded alike.
  std::vector<uint64_t> key;
  // What the kernels use, once the launches are gone.
  std::vector<sdk::Ref<const sdk::Object>> used;

  // For when it is recorded: the launches go, and what they use stays. To free thousands of small
  // pieces of memory takes long, and costs nothing while the device is at work.
  void keep_only_used();
};

// Takes over the launches. `each`: see LaunchBatch.
LaunchBatch batch_of(std::vector<sdk::Launch> launches, bool each);

// The commands of a batch.
class BatchRecording final : public Recording {
 public:
  // Records it, and builds kernels for odd offsets where they are not built yet. Throws sdk::Error.
  BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch, bool again);
  std::string what() const override;
  void learn() override;

 private:
  // A piece of a kernel in one of the command buffers.
  struct Ran {
    size_t launch = 0;
    size_t part = 0;
    double groups = 0;
  };
  // Where dispatches are cut, `pieces` has those of each launch; otherwise it is empty.
  BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch, bool again,
                 const std::vector<std::vector<DispatchPiece>>& pieces);

  // Dispatches a launch piece by piece. `bind` writes what comes before: all of it, or what has
  // changed. Returns whether another command buffer has begun.
  bool dispatch(size_t launch, const std::vector<DispatchPiece>& pieces,
                const std::function<void(bool)>& bind);
  void write_addresses(const LaunchBatch& batch);

  std::vector<sdk::Ref<VulkanKernel>> kernels_;  // of each launch
  std::vector<double> group_ns_;  // predicted, of each launch; empty where nothing is cut
  std::vector<Ran> ran_;          // likewise, in order
  Memory addresses_;              // of kernels with more arguments than push constants hold
};

// The recordings of one executor. Thread-safe.
class RecordingCache final : public sdk::Object {
 public:
  RecordingCache(Context& context, DeviceQueue& queue) : context_(context), queue_(queue) {}
  // A recording of the batch that nobody uses, marked as in use.
  sdk::Ref<Recording> take(const LaunchBatch& batch);

 private:
  // So many batches, the last ones used.
  static constexpr size_t kMostBatches = 64;
  // Recordings of a batch that may be under way at the same time and are kept.
  static constexpr size_t kMostCopies = 3;

  struct Entry {
    std::vector<uint64_t> key;
    std::vector<sdk::Ref<Recording>> copies;
  };
  // The entry of `key`, moved to the front; null if there is none. Under mutex_.
  Entry* find(const std::vector<uint64_t>& key);

  Context& context_;
  DeviceQueue& queue_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // guarded by mutex_; last used first
};

}  // namespace stria::vulkan
