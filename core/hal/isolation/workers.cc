// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/workers.h"

#include <thread>
#include <utility>

#include "stria/hal/guard/signal_stack.h"

namespace stria::hal::isolation {

void Workers::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (idle_ <= tasks_.size()) std::thread([this] { work(); }).detach();
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void Workers::work() {
  const SignalStack stack;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    --idle_;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace stria::hal::isolation
