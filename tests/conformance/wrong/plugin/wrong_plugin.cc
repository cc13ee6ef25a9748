// SPDX-License-Identifier: Apache-2.0
// The shared object. The file `mistake` beside it says what is wrong with it: one name. Without the
// file it is right.
//
// What is done when it is loaded and unloaded, and at the end of the process, is asked for by
// "KIND.load", "KIND.unload" and "KIND.process_exit", with a kind of process_misuse.h.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "process_misuse.h"
#include "wrong_object.h"

namespace stria::wrong {
namespace {

std::string asked_for() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&asked_for), &info);
  std::string name;
  std::getline(std::ifstream(std::filesystem::path(info.dli_fname).parent_path() / "mistake"),
               name);
  return name.empty() ? "none" : name;
}

// Lives as long as the shared object is loaded.
class Loaded {
 public:
  Loaded() {
    const std::string name = asked_for();
    const size_t dot = name.find('.');
    const std::string stage = dot == std::string::npos ? "" : name.substr(dot + 1);
    const std::function<void()> misuse =
        process_misuse(std::string_view(name).substr(0, std::min(dot, name.size())));
    if (misuse && stage == "load") {
      misuse();
      return;
    }
    if (misuse && stage == "unload") {
      at_unload_ = misuse;
      return;
    }
    if (misuse && stage == "process_exit") {
      at_exit_ = misuse;
      std::atexit([] { at_exit_(); });
      return;
    }
    known_ = plant(name, object());
    name_ = name;
  }
  ~Loaded() {
    if (at_unload_) at_unload_();
  }
  bool known() const { return known_; }
  const std::string& name() const { return name_; }

 private:
  static inline std::function<void()> at_exit_;
  std::function<void()> at_unload_;
  bool known_ = true;
  std::string name_;
};
const Loaded g_loaded;

}  // namespace
}  // namespace stria::wrong

extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                                        stria_plugin_info* plugin) {
  using namespace stria::wrong;
  // A row of the test with a name that nobody knows must not count as caught.
  if (!g_loaded.known())
    return sdk::to_error(
        sdk::Error(STRIA_INVALID_ARGUMENT, "no mistake is called '" + g_loaded.name() + "'")
            .outcome());
  return object().query(host, plugin);
}
