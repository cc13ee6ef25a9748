// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "compiler.h"

namespace stria::sim {

std::vector<sdk::DeviceInfo> SimDriver::enumerate() {
  sdk::DeviceInfo slides;
  slides.id = "slides";
  slides.name = "simulated accelerator of the Stripe slides";
  slides.kind = "slides";
  slides.vendor = "stria";
  slides.properties = R"({"simulated": true})";
  return {slides};
}

sdk::Ref<sdk::Device> SimDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  return sdk::make<SimDevice>(host(), info);
}

sdk::Ref<sdk::Compiler> SimDevice::create_compiler() { return sdk::make<SimCompiler>(); }

}  // namespace stria::sim
