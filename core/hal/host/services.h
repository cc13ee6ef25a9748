// SPDX-License-Identifier: Apache-2.0
// The services table as one plugin gets it: what it takes through it and does not give back is its
// leak.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "stria/hal/host/host.h"
#include "stria/plugin.h"

namespace stria::hal {

class Services {
 public:
  explicit Services(std::shared_ptr<Host> host);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  // Valid as long as this object.
  const stria_host_services& table() const { return table_; }
  Host& host() const { return *host_; }
  // What notes about the plugin call it. Before the table is used.
  void set_plugin(std::string id) { plugin_ = std::move(id); }
  // A line of the plugin's, or about it, for the host's log: escaped, cut, and counted. Of each
  // level kMaxLines are shown in kLinePeriod; then one note says that the rest is dropped, and the
  // next period, or the plugin's end, says how many those were.
  void log(LogLevel level, std::string_view line);
  static constexpr uint64_t kMaxLines = 1000;
  static constexpr std::chrono::seconds kLinePeriod{60};
  // Says how many lines have been dropped since that was said last.
  void end_log();
  // "2 allocations (4096 bytes), 1 kernel": what is taken now; "" if that is nothing.
  std::string taken() const;

 private:
  struct Slots;
  // Both may be negative: given back.
  void take(uint64_t bytes, int64_t allocations);

  // Of one level in the period that began at `begin`.
  struct Lines {
    std::chrono::steady_clock::time_point begin;
    uint64_t count = 0;
  };
  // Starts a new period; what there is to say of the last one, or "".
  std::string next_period(Lines& lines, std::chrono::steady_clock::time_point now);

  std::shared_ptr<Host> host_;
  std::string plugin_;
  std::mutex log_mutex_;
  std::array<Lines, 4> lines_;  // by level; guarded by log_mutex_
  std::atomic<int64_t> allocations_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<int64_t> programs_{0};
  std::atomic<int64_t> kernels_{0};
  stria_host_services table_{};
};

}  // namespace stria::hal
