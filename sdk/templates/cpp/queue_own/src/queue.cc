// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <string>

#include "vendor_failure.h"

namespace acme_plugin {
namespace {

namespace sdk = stria::sdk;

// What the queue holds until its turn.
struct Job {
  std::function<void()> body;
  sdk::Ref<sdk::StartedWork> work;
};

// On the queue's thread, which may wait: the calls for memory and code return when the device has
// done what they ask for. A driver whose queues run chains of work by themselves is better served
// by SubmissionQueue (stria/sdk/submission_queue.h).
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
  check_call("make a queue", acme_queue_create(&queue_));
}

sdk::Ref<sdk::Event> Queue::start(const sdk::Ref<sdk::Tracker>& tracker, sdk::Waits waits,
                                  std::function<void()> body) {
  return sdk::start_when(
      host_, tracker, waits,
      [queue = queue_, body = std::move(body)](const sdk::Ref<sdk::StartedWork>& work) {
        auto job = std::make_unique<Job>(Job{body, work});
        check_call("give work to the queue", acme_queue_push(queue, run_job, job.get()));
        (void)job.release();  // the queue's
      });
}

}  // namespace acme_plugin
