// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels. As it is, the host's interpreter runs all of them.
#pragma once

#include <string_view>
#include <vector>

#include "stria/sdk/library.h"

namespace acme_plugin {

class AcmeCompiler final : public stria::sdk::Compiler {
 public:
  explicit AcmeCompiler(const stria::sdk::Host& host) : host_(host) {}
  // The whole program's device Stripe, as the pipeline in passes/npu.json makes it.
  stria::sdk::Ref<stria::sdk::Library> compile(std::string_view stripe,
                                               std::string_view options) override;

 private:
  const stria::sdk::Host& host_;
};

// A program's kernels. Immutable.
class AcmeLibrary final : public stria::sdk::Library {
 public:
  AcmeLibrary(const stria::sdk::Host& host, std::string_view stripe);
  const std::vector<stria::sdk::KernelInfo>& kernels() const override { return infos_; }
  stria::sdk::Ref<stria::sdk::Kernel> prepare(uint64_t index) override;

 private:
  const stria::sdk::Host& host_;
  const stria::sdk::HostProgram program_;
  std::vector<stria::sdk::KernelInfo> infos_;
};

}  // namespace acme_plugin
