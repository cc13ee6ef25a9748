// SPDX-License-Identifier: Apache-2.0
#include "scripted_host.h"

#include <unistd.h>

#include <cstdlib>

#include "stria/base/text.h"

namespace stria::hal {
namespace {

class ScriptedProgram final : public InterpretedProgram {
 public:
  ScriptedProgram(std::shared_ptr<const Script> script, const std::vector<std::string>& names)
      : script_(std::move(script)) {
    for (size_t i = 0; i < names.size(); ++i) {
      KernelInfo info;
      info.name = names[i];
      info.statement = i;
      info.arguments = script_->at(names[i]).arguments;
      kernels_.push_back(std::move(info));
    }
  }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  Result<std::unique_ptr<InterpretedKernel>> prepare(size_t index) const override {
    struct Kernel final : InterpretedKernel {
      std::shared_ptr<const Script> script;
      const ScriptedKernel* kernel = nullptr;
      Status run(std::span<const stria_memory> arguments) const override {
        return kernel->run(arguments);
      }
    };
    auto kernel = std::make_unique<Kernel>();
    kernel->script = script_;
    kernel->kernel = &script_->at(kernels_[index].name);
    return std::unique_ptr<InterpretedKernel>(std::move(kernel));
  }

 private:
  std::shared_ptr<const Script> script_;
  std::vector<KernelInfo> kernels_;
};

}  // namespace

HostFunctions scripted_functions(std::shared_ptr<const Script> script) {
  HostFunctions functions;
  functions.interpret =
      [script](std::string_view text) -> Result<std::unique_ptr<InterpretedProgram>> {
    std::vector<std::string> names = split(text, '\n');
    for (const std::string& name : names)
      if (script->count(name) == 0) return invalid_argument("no kernel '{}' in the script", name);
    return std::unique_ptr<InterpretedProgram>(std::make_unique<ScriptedProgram>(script, names));
  };
  return functions;
}

std::shared_ptr<Host> scripted_host(std::shared_ptr<const Script> script, unsigned threads) {
  return std::make_shared<Host>(scripted_functions(std::move(script)), threads);
}

std::filesystem::path built_plugin(const std::string& name) {
  return std::filesystem::path(STRIA_BINARY_DIR) / "lib/stria/plugins" / name;
}

std::filesystem::path built_test_plugin(const std::string& name) {
  return std::filesystem::path(STRIA_BINARY_DIR) / "lib/stria/test_plugins" / name;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "stria_hal_XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stria::hal
