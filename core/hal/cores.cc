// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <thread>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/host.h"

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

// Version 2 control groups: every group on the path limits.
unsigned quota_cores(unsigned cores) {
  auto groups = read_file("/proc/self/cgroup", 1 << 20);
  if (!groups.ok()) return cores;
  for (const std::string& line : split(*groups, '\n')) {
    if (line.rfind("0::/", 0) != 0) continue;
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      auto limit = read_file(std::filesystem::path("/sys/fs/cgroup") / group / "cpu.max", 4096);
      if (limit.ok()) {
        std::vector<std::string> fields = split(std::string(trim(*limit)), ' ');
        if (fields.size() == 2) cores = limited(cores, fields[0], fields[1]);
      }
      if (group.empty()) break;
    }
  }
  // Version 1 names its controller in the path.
  auto quota = read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", 4096);
  auto period = read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", 4096);
  return quota.ok() && period.ok() ? limited(cores, *quota, *period) : cores;
}

}  // namespace

unsigned usable_cores() { return std::max(1u, quota_cores(std::max(1u, affinity_cores()))); }

}  // namespace stria::hal
