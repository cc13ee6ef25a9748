// SPDX-License-Identifier: Apache-2.0
#include "work_line.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "chosen.h"

namespace third_chip {

namespace sdk = stria::sdk;

class WorkLine::Jobs {
 public:
  Jobs() : thread_([this] { do_all(); }) {}
  ~Jobs() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  void push(std::function<void()> body, sdk::Ref<sdk::StartedWork> work) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back({std::move(body), std::move(work)});
    }
    changed_.notify_one();
  }

 private:
  struct Job {
    std::function<void()> body;
    sdk::Ref<sdk::StartedWork> work;
  };

  static void do_one(Job job) {
    const uint64_t begin_ns = sdk::now_ns();
    sdk::Outcome outcome = sdk::outcome_of_call(job.body);
    const uint64_t end_ns = sdk::now_ns();
    job.body = nullptr;
    job.work->finish(std::move(outcome), begin_ns, end_ns);
  }
  void do_all() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      do_one(std::move(job));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // guarded by mutex_
  bool stop_ = false;     // guarded by mutex_
  std::thread thread_;    // last: it uses the others
};

WorkLine::WorkLine(const sdk::Host& host) : host_(host), jobs_(std::make_unique<Jobs>()) {}
WorkLine::~WorkLine() = default;

sdk::Ref<sdk::Event> WorkLine::start(const sdk::Ref<sdk::Tracker>& tracker, sdk::Waits waits,
                                     std::function<void()> body) {
  if (makes(Mistake::first_wait_only)) waits.count = std::min<uint64_t>(waits.count, 1);
  std::vector<sdk::Ref<sdk::Event>> ends;
  std::vector<sdk::Event*> ends_list;
  if (makes(Mistake::failed_wait_runs)) {
    for (uint64_t i = 0; i < waits.count; ++i) {
      ends.push_back(waits.events[i]->make_end());
      ends_list.push_back(ends.back().get());
    }
    waits.events = ends_list.data();
  }
  return sdk::start_when(host_, tracker, waits,
                         [jobs = jobs_.get(), body = std::move(body)](
                             const sdk::Ref<sdk::StartedWork>& work) { jobs->push(body, work); });
}

}  // namespace third_chip
