// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "stria/base/shown_text.h"

namespace stria::command {

std::string progress_bar(double part, double seconds, std::string_view what) {
  constexpr size_t kWidth = 24;
  const double shown = std::clamp(part, 0.0, 1.0);
  const auto done = static_cast<size_t>(shown * kWidth);
  return fmt::format("\r\x1b[K[{}{}] {:3.0f}% {:.0f} s  {}", std::string(done, '#'),
                     std::string(kWidth - done, '.'), shown * 100, seconds, shown_name(what));
}

Progress::Progress(std::string what, std::chrono::milliseconds interval)
    : what_(std::move(what)), interval_(interval) {
  if (::isatty(STDERR_FILENO)) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Progress::tell(std::string_view what, double part) {
  std::lock_guard lock(mutex_);
  what_ = what;
  part_ = part;
}

void Progress::show() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!ended_.wait_for(lock, interval_, [this] { return end_; })) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (part_ < 0) {
      std::fprintf(stderr, "\r%s … %.0f s", shown_name(what_).c_str(), time.count());
    } else {
      std::fputs(progress_bar(part_, time.count(), what_).c_str(), stderr);
    }
    shown = true;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
}

}  // namespace stria::command
