// SPDX-License-Identifier: Apache-2.0
// A plugin that does to its own process what a plugin cannot do to its host's: the file `misdeed`
// beside it says what, and it does it when a kernel is launched.
//
//   flood          prints twenty megabytes, and works
//   close_all      closes every descriptor
//   garbage        writes bytes that are no message to every socket
//   fork_and_crash leaves a process behind that holds all descriptors, and aborts
//   hang_in_work   the kernel never ends; the slot returns
//   abort_in_work  aborts on a thread of the host's
//   stop           stops its process with a signal
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stria/sdk/plugin.h"

namespace {

namespace sdk = stria::sdk;

std::filesystem::path own_directory() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&own_directory), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

std::string misdeed() {
  std::string text;
  std::getline(std::ifstream(own_directory() / "misdeed"), text);
  return text;
}

constexpr int kDescriptors = 1024;

void do_in_slot(const std::string& what) {
  if (what == "flood") {
    const std::string line(1023, 'x');
    for (int i = 0; i < 20'000; ++i) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
  if (what == "close_all")
    for (int descriptor = 0; descriptor < kDescriptors; ++descriptor) ::close(descriptor);
  if (what == "garbage")
    for (int descriptor = 0; descriptor < kDescriptors; ++descriptor) {
      struct stat info{};
      if (::fstat(descriptor, &info) == 0 && S_ISSOCK(info.st_mode))
        (void)!::write(descriptor, "this is no message at all", 25);
    }
  if (what == "fork_and_crash") {
    if (::fork() == 0) {
      ::setsid();
      ::sleep(5);
      ::_exit(0);
    }
    std::abort();
  }
  if (what == "stop") ::raise(SIGSTOP);
}

class RudeExecutor final : public sdk::Executor {
 public:
  using Executor::Executor;
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override {
    const std::string what = misdeed();
    do_in_slot(what);
    if (what == "hang_in_work" || what == "abort_in_work")
      return sdk::schedule(host(), host().tracker(), waits, [what] {
        if (what == "abort_in_work") std::abort();
        while (true) ::pause();
      });
    return Executor::launch(kernel, std::move(arguments), waits);
  }
};

class RudeDevice final : public sdk::Device {
 public:
  using Device::Device;
  sdk::Ref<sdk::Executor> create_executor(std::string_view) override {
    return sdk::make<RudeExecutor>(host());
  }
};

class RudeDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    sdk::DeviceInfo info;
    info.name = "a device of a rude plugin";
    info.kind = "reference";
    return {info};
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    return sdk::make<RudeDevice>(host(), info);
  }
};

}  // namespace

extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                                        stria_plugin_info* plugin) {
  static const std::string id = own_directory().filename().string();
  return sdk::query<RudeDriver>(host, plugin, id, "1.0.0");
}
