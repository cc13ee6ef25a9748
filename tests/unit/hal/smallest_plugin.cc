// SPDX-License-Identifier: Apache-2.0
// The plugin of sdk/README.md: the helper must do with strict C++17 and nothing but its own
// headers.
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
