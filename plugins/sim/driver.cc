// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "code_generator.h"
#include "compiler.h"
#include "executor.h"
#include "stria/base/file.h"

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
  // The file that the manifest names for the kind; the host reads the same one.
  const std::string path = options().directory + "/hw/stripe_slides.json";
  const std::string text = code_generator::require(read_file(path));
  HardwareModel model =
      code_generator::require(load_hardware_model({path, text}, {}, info.properties));
  return sdk::make<SimDevice>(host(), info, std::move(model));
}

sdk::Ref<sdk::Compiler> SimDevice::create_compiler() { return sdk::make<SimCompiler>(model_); }

sdk::Ref<sdk::Executor> SimDevice::create_executor(std::string_view) {
  return sdk::make<SimExecutor>(host());
}

}  // namespace stria::sim
