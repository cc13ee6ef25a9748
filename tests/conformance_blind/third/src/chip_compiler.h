// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels, which the host's interpreter runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stria/sdk/library.h"

namespace third_chip {

class ChipCompiler final : public stria::sdk::Compiler {
 public:
  explicit ChipCompiler(const stria::sdk::Host& host) : host_(host) {}
  stria::sdk::Ref<stria::sdk::Library> compile(std::string_view stripe,
                                               std::string_view options) override;

 private:
  const stria::sdk::Host& host_;
};

// A program's kernels. Immutable.
class ChipLibrary final : public stria::sdk::Library {
 public:
  ChipLibrary(const stria::sdk::Host& host, std::string_view stripe);
  const std::vector<stria::sdk::KernelInfo>& kernels() const override { return told_; }
  stria::sdk::Ref<stria::sdk::Kernel> prepare(uint64_t index) override;

 private:
  const stria::sdk::Host& host_;
  const stria::sdk::HostProgram program_;
  const std::vector<stria::sdk::KernelInfo> infos_;
  std::vector<stria::sdk::KernelInfo> told_;  // what the host is told
  const std::map<std::string, uint64_t> element_bytes_;
};

}  // namespace third_chip
