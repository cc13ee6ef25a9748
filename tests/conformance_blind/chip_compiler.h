// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels that the host's interpreter computes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/sdk/library.h"

namespace stria::blind {

class ChipLibrary final : public sdk::Library {
 public:
  ChipLibrary(const sdk::Host& host, std::string_view stripe);
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override;

 private:
  const sdk::Host& host_;
  const sdk::HostProgram program_;
  std::vector<sdk::KernelInfo> kernels_;
};

class ChipCompiler final : public sdk::Compiler {
 public:
  explicit ChipCompiler(const sdk::Host& host) : host_(host) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override;

 private:
  const sdk::Host& host_;
};

}  // namespace stria::blind
