// SPDX-License-Identifier: Apache-2.0
// Queues whose order is chance: each job that may run gets a random time to start at.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace stria::slow_device {

struct Options {
  uint64_t seed = 1;
  uint64_t queues = 3;
  uint64_t delay_us = 100;  // the longest wait of a job
  uint64_t memory_bytes = uint64_t{1} << 30;
  uint64_t fail_launch = 0;  // which launch fails, the first is 1; 0: none
};

// One thread that runs jobs one by one, each not before its time.
class Queue {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Queue() : thread_([this] { work(); }) {}
  // Runs what is left, without delay.
  ~Queue();
  void push(Time start, std::function<void()> job);

 private:
  struct Job {
    Time start;
    std::function<void()> run;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;  // a heap, earliest first; guarded by mutex_
  bool stop_ = false;
  std::thread thread_;
};

// All queues of a driver. Thread-safe.
class Queues {
 public:
  explicit Queues(const Options& options);
  // Runs `job` once, on one of the queues, after a while. It must not throw.
  void push(std::function<void()> job);
  // Counts a launch; true if it is the one that is to fail.
  bool next_launch_fails() { return ++launches_ == options_.fail_launch; }

 private:
  const Options options_;
  std::mutex mutex_;
  std::mt19937_64 random_;  // guarded by mutex_
  std::atomic<uint64_t> launches_{0};
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace stria::slow_device
