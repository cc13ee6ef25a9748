// SPDX-License-Identifier: Apache-2.0
// Devices that fail, each at one stage of a compilation.
#include <csignal>
#include <string>

#include "stria/sdk/plugin.h"

namespace stria::failing {

constexpr const char* kKinds[] = {
    "good",            // nothing fails
    "generic_pass",    // a pass of stria, told of a unit that the model does not have
    "plugin_pass",     // the plugin's pass, by its own account
    "newer_pass",      // it writes Stripe of a later version
    "garbled_pass",    // it writes what is no Stripe
    "silent_pass",     // it gives nothing back
    "illegal_pass",    // the plugin's pass gives a program that is not legal
    "crashing_pass",   // the process dies in the plugin's pass
    "build",           // the build
    "crashing_build",  // the process dies in the build, on a thread of its own
    "wrong_kernel"     // the kernel of a product computes its first element wrongly
};

class SpoiltKernel final : public sdk::Kernel {
 public:
  explicit SpoiltKernel(sdk::Ref<sdk::Kernel> right) : right_(std::move(right)) {}
  void run(const stria_memory* arguments, uint64_t count) const override {
    right_->run(arguments, count);
    *static_cast<float*>(arguments[0].data) += 1;
  }

 private:
  const sdk::Ref<sdk::Kernel> right_;
};

class SpoiltLibrary final : public sdk::Library {
 public:
  SpoiltLibrary(const sdk::Host& host, std::string_view stripe)
      : right_(sdk::make<sdk::InterpretedLibrary>(host, stripe)),
        spoils_(stripe.find("mul.fp32") != std::string_view::npos) {}
  const std::vector<sdk::KernelInfo>& kernels() const override { return right_->kernels(); }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override {
    sdk::Ref<sdk::Kernel> kernel = right_->prepare(index);
    if (!spoils_ || right_->kernels()[index].name != "kernel_0") return kernel;
    return sdk::make<SpoiltKernel>(std::move(kernel));
  }

 private:
  const sdk::Ref<sdk::InterpretedLibrary> right_;
  const bool spoils_;
};

class FailingCompiler final : public sdk::Compiler {
 public:
  FailingCompiler(const sdk::Host& host, std::string kind) : host_(host), kind_(std::move(kind)) {}

  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override {
    if (kind_ == "crashing_build") std::raise(SIGSEGV);
    if (kind_ == "build")
      throw sdk::Error(STRIA_UNSUPPORTED,
                       "this device builds nothing, asked with " + std::string(options));
    if (kind_ == "wrong_kernel") return sdk::make<SpoiltLibrary>(host_, stripe);
    return sdk::make<sdk::InterpretedLibrary>(host_, stripe);
  }

  std::vector<sdk::NamedText> transform(std::string_view stripe, std::string_view pass,
                                        std::string_view) override {
    if (kind_ == "crashing_pass") std::abort();
    if (kind_ == "plugin_pass")
      throw sdk::Error(STRIA_UNSUPPORTED, "the pass '" + std::string(pass) + "' gives up");
    std::string text(stripe);
    if (kind_ == "silent_pass") return {};
    if (kind_ == "garbled_pass") return {{"stripe", text.substr(0, text.size() / 2)}};
    if (kind_ == "newer_pass") return {{"stripe", "stripe 9.0" + text.substr(text.find('\n'))}};
    // A name that nothing has.
    if (const size_t store = text.rfind(" = store("); store != std::string::npos)
      text.insert(store, "_nobody");
    return {{"stripe", text}};
  }

 private:
  const sdk::Host& host_;
  const std::string kind_;
};

class FailingDevice final : public sdk::Device {
 public:
  using Device::Device;
  sdk::Ref<sdk::Compiler> create_compiler() override {
    return sdk::make<FailingCompiler>(host(), info().kind);
  }
};

class FailingDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    std::vector<sdk::DeviceInfo> devices;
    for (const char* kind : kKinds) {
      sdk::DeviceInfo info;
      info.id = info.kind = kind;
      info.name = std::string("device that fails: ") + kind;
      devices.push_back(info);
    }
    return devices;
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    return sdk::make<FailingDevice>(host(), info);
  }
};

}  // namespace stria::failing

STRIA_PLUGIN(stria::failing::FailingDriver, "failing", "0.1.0")
