// SPDX-License-Identifier: Apache-2.0
// A host whose "interpreter" runs functions of the test: a program's text is the names of its
// kernels, one per line, so that a test sees and steers what the plugin under it does with them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stria/hal/host/host.h"
#include "stria/hal/plugin.h"

namespace stria::hal {

struct ScriptedKernel {
  std::vector<ArgumentInfo> arguments;
  std::function<Status(std::span<const stria_memory>)> run;
};

// Kernels by name; filled before use, read by any thread.
using Script = std::map<std::string, ScriptedKernel>;

HostFunctions scripted_functions(std::shared_ptr<const Script> script);
// `threads` as for Host.
std::shared_ptr<Host> scripted_host(std::shared_ptr<const Script> script, unsigned threads = 0);

// build/<preset>/lib/stria/plugins/NAME.
std::filesystem::path built_plugin(const std::string& name);
// build/<preset>/lib/stria/test_plugins/NAME.
std::filesystem::path built_test_plugin(const std::string& name);

// A folder of its own that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace stria::hal
