// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace stria::command {

Progress::Progress(std::string what) : what_(std::move(what)) {
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

void Progress::show() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return end_; }))
    std::fprintf(stderr, "\r%s … %d s", what_.c_str(), ++seconds);
  if (seconds > 0) std::fputs("\r\x1b[K", stderr);
}

}  // namespace stria::command
