// SPDX-License-Identifier: Apache-2.0
// A plugin with one device and nothing else, of which the listing of many is timed.
#include "stria/sdk/plugin.h"

extern "C" const char stria_listed_id[];  // a file of its own for each copy

namespace {

class ListedDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override {
    stria::sdk::DeviceInfo info;
    info.name = "a device to be listed";
    info.kind = "listed";
    return {info};
  }
};

}  // namespace

STRIA_PLUGIN(ListedDriver, stria_listed_id, "1.0.0")
