// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <string>

namespace acme_plugin {
namespace {

namespace sdk = stria::sdk;

// What the queue holds until its turn.
struct Job {
  std::function<void()> body;
  sdk::Ref<sdk::StartedWork> work;
};

// On the queue's thread. With a driver that calls back, this is in two parts: what hands the work
// to the driver, and what the driver calls at its end, which finishes the event.
void run_job(void* state) {
  const std::unique_ptr<Job> job(static_cast<Job*>(state));
  const uint64_t begin_ns = sdk::now_ns();
  sdk::Outcome outcome = sdk::outcome_of_call(job->body);
  const uint64_t end_ns = sdk::now_ns();
  job->body = nullptr;
  job->work->finish(std::move(outcome), begin_ns, end_ns);
}

}  // namespace

Queue::Queue(const sdk::Host& host) : host_(host) {
  if (const char* wrong = acme_queue_create(&queue_)) throw sdk::Error(STRIA_UNAVAILABLE, wrong);
}

sdk::Ref<sdk::Event> Queue::start(const sdk::Ref<sdk::Tracker>& tracker, sdk::Waits waits,
                                  std::function<void()> body) {
  return sdk::start_when(
      host_, tracker, waits,
      [queue = queue_, body = std::move(body)](const sdk::Ref<sdk::StartedWork>& work) {
        auto job = std::make_unique<Job>(Job{body, work});
        if (const char* wrong = acme_queue_push(queue, run_job, job.get()))
          throw sdk::Error(STRIA_UNAVAILABLE, wrong);
        (void)job.release();  // the queue's
      });
}

}  // namespace acme_plugin
