// SPDX-License-Identifier: Apache-2.0
// From SPIR-V to what the driver can run. What the driver has compiled is kept in the host's cache,
// for the same device and driver.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "context.h"

namespace stria::vulkan {

// What a pipeline is made of.
struct PipelineParts {
  const std::string& symbol;  // of the kernel, for messages
  int64_t group_lanes = 1;
  uint32_t push_bytes = 0;
};

// Thread-safe.
class Pipelines {
 public:
  explicit Pipelines(Context& context);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // The layout with so many bytes of push constants, which lives as long as this object.
  VkPipelineLayout layout(uint32_t push_bytes);
  // The caller destroys it. Throws sdk::Error; if the driver refuses the module, it says where that
  // is kept.
  VkPipeline build(std::span<const uint32_t> words, const PipelineParts& parts);
  // Hands what the driver has compiled since the last time to the host's cache.
  void keep();

 private:
  Context& context_;
  VkPipelineCache cache_ = nullptr;
  std::mutex mutex_;
  std::map<uint32_t, VkPipelineLayout> layouts_;  // guarded by mutex_, as all below
  uint64_t built_ = 0;                            // pipelines, since the last keep()
  size_t kept_bytes_ = 0;                         // that the host's cache has
};

}  // namespace stria::vulkan
