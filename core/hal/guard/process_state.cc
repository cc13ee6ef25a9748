// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/process_state.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"

namespace stria::hal {
namespace {

// umask() can only be read by setting it, and what another thread made meanwhile would be
// everybody's.
int mode_mask() {
  const auto status = read_file("/proc/self/status", 64 << 10);
  if (!status.ok()) return -1;
  constexpr std::string_view kName = "\nUmask:\t";
  const size_t at = status->find(kName);
  if (at == std::string::npos) return -1;
  return static_cast<int>(std::strtol(status->c_str() + at + kName.size(), nullptr, 8));
}

}  // namespace

OpenFile OpenFile::of(int descriptor) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return {};
  return {info.st_dev, info.st_ino, true};
}

ProcessState ProcessState::now() {
  ProcessState state;
  state.process = ::getpid();
  state.out = OpenFile::of(STDOUT_FILENO);
  state.err = OpenFile::of(STDERR_FILENO);
  std::error_code error;
  state.folder = std::filesystem::current_path(error).string();
  state.user = ::geteuid();
  state.group = ::getegid();
  state.mask = mode_mask();
  for (size_t i = 0; i < kLimits.size(); ++i) {
    rlimit limit{};
    ::getrlimit(kLimits[i], &limit);
    state.limits[i] = limit.rlim_cur;
  }
  return state;
}

std::string ProcessState::changed_to(const ProcessState& after) const {
  if (out.open && !after.out.open) return "it closed the host's standard output";
  if (err.open && !after.err.open) return "it closed the host's standard error";
  if (after.out != out) return "it put another file in place of the host's standard output";
  if (after.err != err) return "it put another file in place of the host's standard error";
  if (after.folder != folder)
    return fmt::format("it changed the working folder to '{}'", shown_name(after.folder));
  if (after.user != user || after.group != group)
    return fmt::format("it changed the user from {}:{} to {}:{}", user, group, after.user,
                       after.group);
  if (mask >= 0 && after.mask >= 0 && after.mask != mask)
    return fmt::format("it changed the file mode mask from {:03o} to {:03o}", mask, after.mask);
  for (size_t i = 0; i < kLimits.size(); ++i)
    if (after.limits[i] < limits[i])
      return fmt::format("it lowered resource limit {} of the process to {}",
                         static_cast<int>(kLimits[i]), after.limits[i]);
  return "";
}

}  // namespace stria::hal
