// SPDX-License-Identifier: Apache-2.0
// A plugin with a pass of its own. Its one device interprets kernels, as the helper does by
// default.
#include "stria/sdk/plugin.h"
#include "unroll_short.h"

namespace own_pass {

class OwnCompiler final : public stria::sdk::Compiler {
 public:
  explicit OwnCompiler(const stria::sdk::Host& host) : host_(host) {}

  stria::sdk::Ref<stria::sdk::Library> compile(std::string_view stripe, std::string_view) override {
    return stria::sdk::make<stria::sdk::InterpretedLibrary>(host_, stripe);
  }

  // The steps {"plugin_pass": {"pass": NAME, "options": {…}}} of this device's pipelines.
  std::vector<stria::sdk::NamedText> transform(std::string_view stripe, std::string_view pass,
                                               std::string_view options) override {
    if (pass == "unroll_short") return unroll_short(stripe, options);
    throw stria::sdk::Error(STRIA_NOT_FOUND, "there is no pass '" + std::string(pass) +
                                                 "'; this plugin has unroll_short");
  }

 private:
  const stria::sdk::Host& host_;
};

class OwnDevice final : public stria::sdk::Device {
 public:
  using Device::Device;
  stria::sdk::Ref<stria::sdk::Compiler> create_compiler() override {
    return stria::sdk::make<OwnCompiler>(host());
  }
};

class OwnDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override {
    stria::sdk::DeviceInfo info;
    info.id = "0";
    info.name = "a device with a pass of its own";
    info.kind = "chip";  // of plugin.json
    return {info};
  }
  stria::sdk::Ref<stria::sdk::Device> open(const stria::sdk::DeviceInfo& info,
                                           std::string_view) override {
    return stria::sdk::make<OwnDevice>(host(), info);
  }
};

}  // namespace own_pass

STRIA_PLUGIN(own_pass::OwnDriver, "own_pass", "1.0.0")
