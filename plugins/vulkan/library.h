// SPDX-License-Identifier: Apache-2.0
// Library and Kernel: a program whose kernels the driver has built, and one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "context.h"
#include "emit/features.h"
#include "emit/program.h"
#include "stria/sdk/library.h"

namespace stria::vulkan {

class VulkanKernel;

// What the driver has built of kernels that differ in names alone. Thread-safe.
class KernelPipelines {
 public:
  explicit KernelPipelines(Context& context) : context_(context) {}
  ~KernelPipelines();
  KernelPipelines(const KernelPipelines&) = delete;
  KernelPipelines& operator=(const KernelPipelines&) = delete;
  // Built when first asked for, from the words and parts of the kernel that asks.
  VkPipeline of(const VulkanKernel& kernel, bool any_offset);

 private:
  Context& context_;
  std::mutex mutex_;
  VkPipeline pipelines_[2] = {};  // guarded by mutex_; aligned, any offset
};

// Thread-safe.
class VulkanKernel final : public sdk::Kernel {
 public:
  VulkanKernel(Context& context, KernelCode code, const Features& features);

  // A number that no other kernel of the process has.
  uint64_t id() const { return id_; }
  const KernelCode& code() const { return code_; }
  // Bytes of push constants.
  uint32_t push_bytes() const { return push_bytes_; }
  // The module's words.
  std::vector<uint32_t> words(bool any_offset = false) const;
  // Built when first asked for. `any_offset`: for arguments that begin at no multiple of
  // semtree::kMemoryAlignment. Throws sdk::Error if the driver refuses it.
  VkPipeline pipeline(bool any_offset) const { return pipelines_->of(*this, any_offset); }
  // Before the first pipeline is asked for.
  void share(std::shared_ptr<KernelPipelines> pipelines) { pipelines_ = std::move(pipelines); }

  // Nanoseconds that a group adds to a dispatch, rounded up to a power of two so that small
  // differences do not cut it anew: the longest that was measured (but for the first time), or what
  // is predicted from the kernel's work. 0 if it is not known, or where dispatches are not cut.
  double group_ns() const;
  // What a group took. `alone`: nothing else ran, so it is exact, and what was measured among
  // others does not count any more.
  void learn_group_ns(double ns, bool alone) const;

 private:
  Context& context_;
  const KernelCode code_;
  const Features features_;
  const uint64_t id_;
  const uint32_t push_bytes_;
  double predicted_group_ns_ = 0;
  struct Measured {
    // The first time may have another's in it, such as that of a driver that compiles late: it
    // counts until there is a second one.
    void add(double ns) { longest_ns = ++count <= 2 ? ns : std::max(longest_ns, ns); }
    int64_t count = 0;
    double longest_ns = 0;
  };
  mutable std::mutex measured_mutex_;
  mutable Measured alone_, among_others_;  // guarded by measured_mutex_; times of a group
  std::shared_ptr<KernelPipelines> pipelines_;
};

class VulkanLibrary final : public sdk::Library {
 public:
  // Builds the kernels, several at the same time. Throws sdk::Error.
  VulkanLibrary(Context& context, std::vector<KernelCode> kernels, const Features& features);
  const std::vector<sdk::KernelInfo>& kernels() const override { return infos_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override { return kernels_[index]; }
  // "k0_conv.spvasm" for each kernel, and its tree if it was asked for.
  std::vector<sdk::NamedText> source() const override;

 private:
  std::vector<sdk::KernelInfo> infos_;
  std::vector<sdk::Ref<VulkanKernel>> kernels_;
};

}  // namespace stria::vulkan
