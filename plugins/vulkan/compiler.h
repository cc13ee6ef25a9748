// SPDX-License-Identifier: Apache-2.0
// Device Stripe in, kernels that the driver has built out.
#pragma once

#include <string_view>

#include "context.h"
#include "stria/sdk/library.h"

namespace stria::vulkan {

// Options: {"fast_math": false, "dump_source": false, "no_peepholes": false}; others are ignored.
class VulkanCompiler final : public sdk::Compiler {
 public:
  explicit VulkanCompiler(Context& context) : context_(context) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override;

 private:
  Context& context_;
};

}  // namespace stria::vulkan
