// SPDX-License-Identifier: Apache-2.0
// Kernels that are launched together, and the recordings of them: a batch that comes again, with
// the same kernels and addresses, is not recorded again.
#pragma once

#include <cstdint>
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
  struct One {
    sdk::Ref<VulkanKernel> kernel;
    std::vector<sdk::Argument> arguments;  // of VulkanBuffers
    size_t after_end = 0;                  // in `after`; it begins where the one before ends
  };
  std::vector<One> launches;
  std::vector<uint32_t> after;  // positions of earlier launches, one launch after the other
  bool each = false;            // times of each launch: they run one after another
  // All that the commands depend on: two batches with the same are recorded alike.
  std::vector<uint64_t> key;
};

// Takes over the launches. `each`: see LaunchBatch.
LaunchBatch batch_of(std::vector<sdk::Launch> launches, bool each);

// The commands of a batch.
class BatchRecording final : public Recording {
 public:
  // Records it, and builds kernels for odd offsets where they are not built yet. Throws sdk::Error.
  BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch, bool again);
  std::string what() const override;

 private:
  void write_addresses(const LaunchBatch& batch);

  std::vector<sdk::Ref<VulkanKernel>> kernels_;  // of each launch
  Memory addresses_;  // of kernels with more arguments than push constants hold
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
