// SPDX-License-Identifier: Apache-2.0
// A kernel that the host interprets, on copies of what the device has.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "argument_copy.h"
#include "stria/sdk/executor.h"
#include "stria/sdk/library.h"

namespace third_chip {

class ChipKernel final : public stria::sdk::Kernel {
 public:
  // `element_bytes` of each argument.
  ChipKernel(const stria::sdk::Host& host, stria_host_kernel* kernel, stria::sdk::KernelInfo info,
             std::vector<uint64_t> element_bytes)
      : kernel_(host, kernel), info_(std::move(info)), element_bytes_(std::move(element_bytes)) {}
  // Runs to its end. Called by the line; throws stria::sdk::Error to fail. Any number at once.
  void launch(const std::vector<stria::sdk::Argument>& arguments) const;

 private:
  bool is_read_only(size_t position) const {
    return info_.arguments[position].direction == STRIA_IN;
  }
  void keep_uniforms(std::vector<ArgumentCopy>& copies) const;
  void spoil_results(std::vector<ArgumentCopy>& copies) const;

  stria::sdk::HostKernel kernel_;
  const stria::sdk::KernelInfo info_;
  const std::vector<uint64_t> element_bytes_;
  mutable std::mutex mutex_;
  mutable std::map<size_t, std::vector<std::byte>> uniforms_;  // by position; guarded by mutex_
};

}  // namespace third_chip
