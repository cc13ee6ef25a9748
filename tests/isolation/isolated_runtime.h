// SPDX-License-Identifier: Apache-2.0
// Runtimes with plugins that a test makes, and the processes that they start.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bad_folder.h"
#include "stria/runtime/runtime.h"

namespace stria::isolation_test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Makes `folder`/bad, which does what `misdeed` says (bad_plugin.cc).
inline void make_bad(const fs::path& folder, const std::string& misdeed) {
  fs::remove_all(folder / "bad");
  bad_plugins::make_bad(folder, "bad", misdeed);
}

// The same with rude_plugin.cc.
inline void make_rude(const fs::path& folder, const std::string& misdeed) {
  fs::remove_all(folder / "rude");
  const fs::path made = bad_plugins::make_bad(folder, "rude", misdeed);
  fs::remove(made / "libbad.so");
  fs::copy_file(fs::path(STRIA_BINARY_DIR) / "tests/isolation/librude.so", made / "libbad.so");
  fs::permissions(made / "libbad.so", fs::perms(0755));
}

// With short limits: a test hangs for as long.
inline RuntimeOptions options_for(const fs::path& folder) {
  RuntimeOptions options;
  options.plugin_paths = {folder};
  options.only_plugin_paths = true;
  options.plugin_time_limit = std::chrono::milliseconds(3000);
  options.wait_limit_ns = 10'000'000'000;
  return options;
}

// Processes that this one has started and not waited for.
inline std::vector<pid_t> children() {
  std::vector<pid_t> out;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) out.push_back(child);
  }
  return out;
}

inline size_t entries_in(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}
inline size_t descriptors() { return entries_in("/proc/self/fd"); }
inline size_t threads() { return entries_in("/proc/self/task"); }

// Whether it becomes true within `ms`.
template <typename Done>
bool soon(int ms, Done done) {
  const auto end = Clock::now() + std::chrono::milliseconds(ms);
  while (!done()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace stria::isolation_test
