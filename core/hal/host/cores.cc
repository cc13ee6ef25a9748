// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/host/host.h"

namespace stria::hal {
namespace {

unsigned affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  // More cores than the fixed set holds.
  return std::thread::hardware_concurrency();
}

bool parse(std::string_view text, int64_t& value) {
  text = trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Cores that "quota period" (both in microseconds) allow, or `cores`.
unsigned limited(unsigned cores, std::string_view quota_text, std::string_view period_text) {
  int64_t quota = 0, period = 0;
  if (!parse(quota_text, quota) || !parse(period_text, period) || quota <= 0 || period <= 0)
    return cores;
  int64_t allowed = quota / period + (quota % period != 0);
  return static_cast<unsigned>(std::min<int64_t>(cores, allowed));
}

// The text of a file of the kernel's; "" if there is none.
std::string text_of(const std::filesystem::path& file) {
  auto text = read_file(file, 1 << 20);
  return text.ok() ? *text : std::string();
}

// Calls limit(folder) for `group` ("/a/b") and every group around it.
template <typename Limit>
void each_group(const std::filesystem::path& top, const std::string& group, const Limit& limit) {
  const size_t named = group.find_first_not_of('/');
  std::filesystem::path at = named == std::string::npos ? "" : group.substr(named);
  while (true) {
    limit(top / at);
    if (at.empty()) return;
    at = at.parent_path();
  }
}

}  // namespace

unsigned quota_cores(unsigned cores, const std::filesystem::path& root) {
  // "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
  for (const std::string& line : split(text_of(root / "proc/self/cgroup"), '\n')) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string group = line.substr(second + 1);
    if (first + 1 == second) {
      each_group(root / "sys/fs/cgroup", group, [&](const std::filesystem::path& folder) {
        const std::vector<std::string> fields =
            split(std::string(trim(text_of(folder / "cpu.max"))), ' ');
        if (fields.size() == 2) cores = limited(cores, fields[0], fields[1]);
      });
      continue;
    }
    const std::vector<std::string> controllers =
        split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
    each_group(root / "sys/fs/cgroup/cpu", group, [&](const std::filesystem::path& folder) {
      cores = limited(cores, text_of(folder / "cpu.cfs_quota_us"),
                      text_of(folder / "cpu.cfs_period_us"));
    });
  }
  return cores;
}

Result<unsigned> threads_asked_for() {
  const char* text = secure_getenv("STRIA_THREADS");
  if (!text) return 0u;
  int64_t threads = 0;
  if (!parse(text, threads) || threads < 1 || threads > kMaxThreads)
    return invalid_argument("STRIA_THREADS is '{}', not a number from 1 to {}", text, kMaxThreads);
  return static_cast<unsigned>(threads);
}

unsigned usable_cores() { return std::max(1u, quota_cores(std::max(1u, affinity_cores()))); }

}  // namespace stria::hal
