// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/environment_table.h"

extern char** environ;

namespace stria::hal {
namespace {

constexpr std::array<std::string_view, 7> kHarmless = {"LANG",    "LANGUAGE", "TERM",    "TZ",
                                                       "COLUMNS", "LINES",    "NO_COLOR"};

bool is_harmless(std::string_view name) {
  return name.substr(0, 3) == "LC_" ||
         std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
}

std::string home_of_effective_user() {
  std::array<char, 1 << 14> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) != 0 || !found ||
      !found->pw_dir)
    return "/";
  return found->pw_dir;
}

}  // namespace

std::shared_ptr<const Environment> environment_now() {
  auto out = std::make_shared<Environment>();
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    out->emplace_back(*variable);
  return out;
}

void restrict_environment_once(bool elevated) {
  static std::once_flag restricted;
  std::call_once(restricted, [&] { restrict_environment(elevated); });
}

void restrict_environment(bool elevated) {
  if (!elevated) return;
  std::vector<std::string> kept;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !is_harmless(text.substr(0, equals))) continue;
    // A name may stand there twice; getenv() finds the first.
    if (std::none_of(kept.begin(), kept.end(), [&](const std::string& other) {
          return other.starts_with(text.substr(0, equals + 1));
        }))
      kept.emplace_back(text);
  }
  kept.emplace_back("PATH=/usr/bin:/bin");
  kept.push_back("HOME=" + home_of_effective_user());
  replace_variables(std::move(kept));
}

}  // namespace stria::hal

#ifdef __SANITIZE_ADDRESS__
// What tests say in ASAN_OPTIONS, which an elevated process does not keep: drivers give threads
// signal stacks of their own, and the sanitizer would unmap those as its.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options() {
  return "use_sigaltstack=0";
}
#endif

#ifdef __SANITIZE_THREAD__
// A child that examines a plugin is forked, and loads plugins that start threads.
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "die_after_fork=0";
}
#endif
