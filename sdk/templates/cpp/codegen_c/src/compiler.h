// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels: C of every kernel that C can say; the host interprets the others.
// The calls of the compiler and of the device are in vendor_compiler.c.
#pragma once

#include <string>
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
  // The plugin's own passes, which are in passes.cc.
  std::vector<stria::sdk::NamedText> transform(std::string_view stripe, std::string_view pass,
                                               std::string_view options) override;

 private:
  // The compiled text, from the host's cache where it has it.
  std::string code_of(const std::string& text) const;

  const stria::sdk::Host& host_;
};

}  // namespace acme_plugin
