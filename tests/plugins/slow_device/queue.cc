// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <algorithm>

namespace stria::slow_device {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.start > b.start; };

}  // namespace

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Queue::push(Time start, std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({start, std::move(job)});
    std::push_heap(jobs_.begin(), jobs_.end(), kLater);
  }
  changed_.notify_all();
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (stop_) return;
      changed_.wait(lock);
      continue;
    }
    const Time start = jobs_.front().start;
    if (!stop_ && start > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, start);  // an earlier job may come in the meantime
      continue;
    }
    std::pop_heap(jobs_.begin(), jobs_.end(), kLater);
    std::function<void()> run = std::move(jobs_.back().run);
    jobs_.pop_back();
    lock.unlock();
    run();
    run = nullptr;
    lock.lock();
  }
}

Queues::Queues(const Options& options) : options_(options), random_(options.seed) {
  for (uint64_t i = 0; i < options_.queues; ++i) queues_.push_back(std::make_unique<Queue>());
}

void Queues::push(std::function<void()> job) {
  uint64_t chance, pick;
  {
    std::lock_guard lock(mutex_);
    chance = random_();
    pick = random_();
  }
  // Half of all jobs start at once: then a late one meets others that have gone far ahead.
  const uint64_t delay = chance % 2 == 0 ? 0 : (chance >> 1) % (options_.delay_us + 1);
  queues_[pick % queues_.size()]->push(
      std::chrono::steady_clock::now() + std::chrono::microseconds(delay), std::move(job));
}

}  // namespace stria::slow_device
