// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says what takes so long. Nothing is shown when stderr is not a
// terminal, or when the work is done before the first `interval` is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace stria::command {

// The line as it is written over the one before: "[####....]  50% 3 s  what".
std::string progress_bar(double part, double seconds, std::string_view what);

class Progress {
 public:
  explicit Progress(std::string what, std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~Progress();  // clears the line
  // What is done now, and which part of all is done, 0 to 1: shown as a bar.
  void tell(std::string_view what, double part);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();
  std::string what_;  // guarded by mutex_
  double part_ = -1;  // likewise; below 0: not known
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;    // guarded by mutex_
  std::thread thread_;  // only on a terminal
};

}  // namespace stria::command
