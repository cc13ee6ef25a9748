// SPDX-License-Identifier: Apache-2.0
// The smallest plugin: one device, whose memory, events and kernels are the helper's defaults.
#include "stria/sdk/plugin.h"

class AcmeDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override {
    stria::sdk::DeviceInfo info;
    info.id = "0";
    info.name = "Acme 300";
    info.kind = "npu";  // of plugin.json
    return {info};
  }
};
STRIA_PLUGIN(AcmeDriver, "acme", "1.0.0")
