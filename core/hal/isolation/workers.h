// SPDX-License-Identifier: Apache-2.0
// Threads for what may take long: each task gets one at once, for tasks wait for each other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace stria::hal::isolation {

// Lives as long as its process.
class Workers {
 public:
  // Throws std::system_error if the system gives no thread.
  void run(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  size_t idle_ = 0;                          // likewise
};

}  // namespace stria::hal::isolation
