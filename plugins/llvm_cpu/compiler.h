// SPDX-License-Identifier: Apache-2.0
// Device Stripe in, machine code out.
#pragma once

#include <string_view>

#include "stria/sdk/host.h"
#include "stria/sdk/library.h"

namespace stria::llvm_cpu {

// Options: {"fast_math": false, "dump_source": false, "no_peepholes": false}; others are ignored.
class CpuCompiler final : public sdk::Compiler {
 public:
  explicit CpuCompiler(const sdk::Host& host) : host_(host) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override;

 private:
  const sdk::Host& host_;
};

}  // namespace stria::llvm_cpu
