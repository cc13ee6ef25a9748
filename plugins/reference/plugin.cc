// SPDX-License-Identifier: Apache-2.0
// The interpreter as a device. Everything but the list of devices is the helper's default, so this
// is also the smallest plugin there can be.
#include "stria/sdk/plugin.h"

namespace stria::reference {

class ReferenceDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    sdk::DeviceInfo info;
    info.id = "interpreter";
    info.name = "reference interpreter";
    info.kind = "reference";
    info.vendor = "stria";
    return {info};
  }
};

}  // namespace stria::reference

STRIA_PLUGIN(stria::reference::ReferenceDriver, "reference", "0.1.0")
