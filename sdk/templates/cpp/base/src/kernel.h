// SPDX-License-Identifier: Apache-2.0
// What the executor launches, and the kernel that the host interprets.
#pragma once

#include <utility>
#include <vector>

#include "stria/sdk/executor.h"
#include "stria/sdk/library.h"

namespace acme_plugin {

// Immutable: any number of launches at once.
class AcmeKernel : public stria::sdk::Kernel {
 public:
  // Runs to its end. Called by the queue; throws stria::sdk::Error to fail.
  virtual void launch(const std::vector<stria::sdk::Argument>& arguments) const = 0;
};

// The host's interpreter works on the host's memory: it gets copies of what the device has.
class InterpretedKernel final : public AcmeKernel {
 public:
  InterpretedKernel(const stria::sdk::Host& host, stria_host_kernel* kernel,
                    stria::sdk::KernelInfo info)
      : kernel_(host, kernel), info_(std::move(info)) {}
  void launch(const std::vector<stria::sdk::Argument>& arguments) const override;

 private:
  stria::sdk::HostKernel kernel_;
  const stria::sdk::KernelInfo info_;
};

}  // namespace acme_plugin
