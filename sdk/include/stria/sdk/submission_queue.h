// SPDX-License-Identifier: Apache-2.0
// A queue of a driver that runs work by itself: what waits for what, who notices that work has
// ended, and how failures travel. The plugin keeps what is its driver's: how work is handed to it,
// and how its end is waited for.
//
//   struct Batch final : Submission {
//     bool can_wait_for(const SubmissionEvent& event, bool) const override { return true; }
//     Outcome give() override { … }     // hand it to the driver, which counts up to `number`
//     void publish() override { done->set_number(number); }
//     void end() override {             // wait for the driver
//       Outcome outcome = refused() ? refused() : queue.wait_for(number);
//       done->signal(std::move(outcome), begin_ns, end_ns);
//     }
//   };
//   auto batch = std::make_unique<Batch>(…);
//   Ref<Event> done = batch->done;      // a SubmissionEvent
//   queue.start(std::move(batch), tracker, waits, false);
//   return done;
//
// If the driver can wait for everything that a submission waits for, it gets the submission at
// once: chains run without the host. Otherwise (host events, submissions that wait for such) the
// host waits first.
//
// A thread that waits for an event without a limit ends submissions itself, since switching to
// another thread costs more than a small kernel. The queue's own thread ends what nobody waits for.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stria/sdk/device_loss.h"
#include "stria/sdk/event.h"

namespace stria::sdk {

class SubmissionQueue;

// The event of a submission, or of a part of one. Submission::end() signals it. Thread-safe.
class SubmissionEvent : public Event {
 public:
  bool is_work() const final { return true; }
  // Without a limit the calling thread ends the submission itself, and those before it.
  inline bool wait(uint64_t timeout_ns) final;
  inline Ref<Event> make_end() final;

  // True from Submission::publish() on; never if the driver has not got the submission. By what is
  // published others find the work in the driver.
  virtual bool submitted() const = 0;
  // Says that somebody wants to be told of its end, and does not wait for it.
  inline void expect_end() const;
  SubmissionQueue& queue() const { return queue_; }

  // The one that `event` is, or whose end it is; null if it is neither. `end_only` says which: who
  // waits for an end does not care whether the work has failed.
  inline static const SubmissionEvent* find(const Event& event, bool* end_only = nullptr);

 protected:
  // `of_all`: of the whole submission, else of a part. The queue outlives the event's work.
  inline SubmissionEvent(SubmissionQueue& queue, bool of_all);

 private:
  SubmissionQueue& queue_;
  const bool of_all_;
};

// The end of such an event (Event::make_end): what comes after it may wait in the driver, too.
class SubmissionEnd final : public Event {
 public:
  SubmissionEnd(const Host& host, Ref<SubmissionEvent> of) : Event(host), of_(std::move(of)) {}
  bool is_work() const override { return true; }
  bool wait(uint64_t timeout_ns) override {
    // Done behind it: with a limit that is one wait, not two.
    if (timeout_ns == UINT64_MAX)
      of_->wait(timeout_ns);
    else
      of_->expect_end();
    return Event::wait(timeout_ns);
  }
  const SubmissionEvent& of() const { return *of_; }

 private:
  const Ref<SubmissionEvent> of_;
};

inline const SubmissionEvent* SubmissionEvent::find(const Event& event, bool* end_only) {
  const auto* end = dynamic_cast<const SubmissionEnd*>(&event);
  if (end_only) *end_only = end != nullptr;
  return end ? &end->of() : dynamic_cast<const SubmissionEvent*>(&event);
}

// What is handed to the driver as one. The queue owns it from start() until it has ended, and calls
// the functions in the order in which they stand here, one at a time, on any thread.
class Submission {
 public:
  Submission() = default;
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  virtual ~Submission() = default;

  // Can the driver wait by itself for `event`, which is submitted (perhaps in another queue)?
  // `end_only`: for its end, even if it fails.
  virtual bool can_wait_for(const SubmissionEvent& event, bool end_only) const = 0;
  // What can be done before the queue's turn. What it throws is the submission's failure.
  virtual void prepare() {}
  // Hands the work to the driver, which waits for those waits() that are still open. Submissions of
  // one queue come one after the other. Returns why the driver has not got it, or not all of it.
  // Not called if a wait that the driver does not know has failed, if the device is lost, or if
  // prepare() has thrown.
  virtual Outcome give() = 0;
  // Shows others what the driver knows the work by (SubmissionEvent::submitted). Under the queue's
  // lock, if the driver has got it; so what waits for it in this queue is ended after it.
  virtual void publish() = 0;
  // What is at work, for SubmissionQueue::under_way(); null if the driver has not got it. Under the
  // queue's lock, before end(). It is kept until the submission has ended.
  virtual Object* subject() const { return nullptr; }
  // Waits until the driver says what became of the work (but not longer, if the device is lost),
  // and signals the events: with refused(), if that is not null. Submissions of one queue end in
  // the order in which they were handed on. Must not throw.
  virtual void end() = 0;

  const std::vector<Ref<Event>>& waits() const { return waits_; }
  // Why the driver has not got the submission, or not all of it; null if it has.
  const Outcome& refused() const { return refused_; }

 private:
  friend class SubmissionQueue;
  SubmissionQueue* queue_ = nullptr;
  Ref<Tracker> tracker_;
  Tracker::Ticket ticket_;
  std::vector<Ref<Event>> waits_;
  Outcome refused_;
};

// Thread-safe. It has a thread of its own, which sleeps while there is nothing to end.
class SubmissionQueue {
 public:
  // `host` and `loss` outlive it. Throws std::system_error if no thread can be started.
  SubmissionQueue(const Host& host, const DeviceLoss& loss)
      : host_(host), loss_(loss), thread_([this] { run(); }) {}
  // Precondition: all that was started has ended, nobody is in a call, and this is not the queue's
  // thread: what a submission holds may not own its queue. On that thread it ends the process.
  ~SubmissionQueue() {
    if (thread_.get_id() == std::this_thread::get_id()) {
      host_.log(
          STRIA_LOG_ERROR,
          "a submission queue goes on its own thread: a submission holds what owns the queue");
      std::abort();
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }
  SubmissionQueue(const SubmissionQueue&) = delete;
  SubmissionQueue& operator=(const SubmissionQueue&) = delete;

  // Submits `work` when `waits` are over. `tracker` counts it until it has ended and is gone.
  // `soon`: the queue's thread turns to it at once; otherwise if nobody has ended anything for
  // kPatienceNs. A failed wait, or the device's loss, ends it when its turn comes.
  inline void start(std::unique_ptr<Submission> work, const Ref<Tracker>& tracker, Waits waits,
                    bool soon);
  // Lets the queue's thread end at once what has been submitted.
  inline void hurry();
  // Ends submissions on the calling thread, or waits for others that do, until `event` is done.
  // Returns earlier if there are no more.
  inline void end_until(const Event& event);
  // For messages when the device is lost: describe(const Object&), a text, for the subject of the
  // first submission that has not ended; called under the queue's lock. Empty if none has one, or
  // if another thread keeps the list for long: whoever asks may hold what that thread needs.
  template <typename Describe>
  std::string under_way(const Describe& describe) const;

  const Host& host() const { return host_; }

 protected:
  // Held while a submission is given to the driver and added to the list, and by plugins that give
  // one again.
  std::mutex& giving() { return giving_; }
  // For Submission::end(): what comes after the one that is being ended. They stay until it has
  // ended.
  std::vector<Submission*> later() const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Submission*> out;
    for (const auto& work : works_) out.push_back(work.get());
    return out;
  }

 private:
  // Longer than it takes to get from starting work to waiting for it, and short enough that the end
  // of what nobody waits for is noticed soon.
  static constexpr uint64_t kPatienceNs = 100'000;
  // The same, while another thread waits.
  static constexpr uint64_t kLongestPatienceNs = 1'000'000;

  inline void submit(std::unique_ptr<Submission> work, bool soon);
  inline void run();
  // Ends the first submission, with `lock` on mutex_ given up meanwhile.
  inline void end_first(std::unique_lock<std::mutex>& lock);

  const Host& host_;
  const DeviceLoss& loss_;
  std::mutex giving_;  // before mutex_
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for the queue's thread
  std::condition_variable ended_;    // a submission has
  // All guarded by mutex_.
  std::deque<std::unique_ptr<Submission>> works_;
  bool ending_ = false;         // one is being ended; it is no longer in the list
  Ref<Object> ending_subject_;  // its subject
  uint64_t ended_count_ = 0;    // that have ended
  bool hurry_ = false;          // somebody depends on what is in the list without waiting
  bool asleep_ = false;         // the queue's thread, until it is woken
  bool stop_ = false;
  std::thread thread_;
};

// ---- SubmissionEvent

inline SubmissionEvent::SubmissionEvent(SubmissionQueue& queue, bool of_all)
    : Event(queue.host()), queue_(queue), of_all_(of_all) {}

inline bool SubmissionEvent::wait(uint64_t timeout_ns) {
  if (done()) return true;
  // Of a part this thread would come back with the end of all; ending has no limit.
  if (of_all_ && timeout_ns == UINT64_MAX && submitted())
    queue_.end_until(*this);
  else
    queue_.hurry();
  return Event::wait(timeout_ns);
}

inline void SubmissionEvent::expect_end() const {
  if (!done()) queue_.hurry();
}

inline Ref<Event> SubmissionEvent::make_end() {
  auto end = make<SubmissionEnd>(host(), Ref<SubmissionEvent>(this));
  on_done(
      [](void* state, const stria_error*) {
        Ref<SubmissionEnd>::adopt(static_cast<SubmissionEnd*>(state))->signal();
      },
      Ref<SubmissionEnd>(end).detach());
  return end;
}

// ---- SubmissionQueue

inline void SubmissionQueue::start(std::unique_ptr<Submission> work, const Ref<Tracker>& tracker,
                                   Waits waits, bool soon) {
  work->queue_ = this;
  work->tracker_ = tracker;
  std::vector<Event*> on_host;
  for (uint64_t i = 0; i < waits.count; ++i) {
    Event& event = *waits.events[i];
    work->waits_.push_back(Ref<Event>(&event));
    bool end_only = false;
    const SubmissionEvent* of = nullptr;
    const bool known = event.done() ? !event.outcome()
                                    : (of = SubmissionEvent::find(event, &end_only)) &&
                                          of->submitted() && work->can_wait_for(*of, end_only);
    if (!known) on_host.push_back(&event);
  }
  work->ticket_ = tracker->add();
  if (on_host.empty()) return submit(std::move(work), soon);
  for (const Event* wait : on_host)
    if (const SubmissionEvent* of = SubmissionEvent::find(*wait)) of->expect_end();
  when_done(host_, host_.tracker(), {on_host.data(), on_host.size()})
      ->on_done(
          [](void* state, const stria_error* error) {
            std::unique_ptr<Submission> waiting(static_cast<Submission*>(state));
            // What has failed waits its turn to say so: a chain of such would be a recursion here.
            waiting->refused_ = outcome_of(error);
            SubmissionQueue& queue = *waiting->queue_;
            queue.submit(std::move(waiting), true);
          },
          work.release());
}

inline void SubmissionQueue::submit(std::unique_ptr<Submission> work, bool soon) {
  if (!work->refused_) work->refused_ = loss_.lost();
  if (!work->refused_) work->refused_ = outcome_of_call([&work] { work->prepare(); });
  std::unique_lock<std::mutex> giving(giving_, std::defer_lock);
  if (!work->refused_) {
    giving.lock();
    work->refused_ = work->give();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!work->refused_) work->publish();
  works_.push_back(std::move(work));
  if (soon) hurry_ = true;
  if (soon || asleep_) changed_.notify_one();
}

inline void SubmissionQueue::hurry() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (works_.empty()) return;
  hurry_ = true;
  changed_.notify_one();
}

inline void SubmissionQueue::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  // While threads that wait end submissions this one only looks now and then, without being woken.
  bool others_end = false;
  uint64_t patience_ns = kPatienceNs;
  for (;;) {
    if (works_.empty() && !others_end) {
      if (stop_) return;
      asleep_ = true;
      changed_.wait(lock, [this] { return stop_ || !works_.empty(); });
      asleep_ = false;
    }
    const uint64_t before = ended_count_;
    wait_for(changed_, lock, patience_ns, [this] { return stop_ || hurry_; });
    others_end = !stop_ && !hurry_ && (ending_ || ended_count_ != before);
    // Long work is looked at less often: it may be on this processor.
    patience_ns = others_end && ended_count_ == before
                      ? std::min(2 * patience_ns, kLongestPatienceNs)
                      : kPatienceNs;
    if (others_end) continue;
    while (!works_.empty())
      if (ending_)
        ended_.wait(lock);
      else
        end_first(lock);
    hurry_ = false;
  }
}

inline void SubmissionQueue::end_until(const Event& event) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!event.done()) {
    if (ending_)
      ended_.wait(lock);
    else if (!works_.empty())
      end_first(lock);
    else
      return;
  }
}

inline void SubmissionQueue::end_first(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<Submission> work = std::move(works_.front());
  works_.pop_front();
  ending_ = true;
  ending_subject_ = Ref<Object>(work->subject());
  lock.unlock();
  // What it waits for may be in another queue, whose turn it would be later. Nobody may find that
  // open when this is done. Such waits came first, so that they are no circle.
  for (const Ref<Event>& wait : work->waits_) wait->wait(UINT64_MAX);
  work->end();
  const Ref<Tracker> tracker = std::move(work->tracker_);
  const Tracker::Ticket ticket = work->ticket_;
  work.reset();
  lock.lock();
  ending_ = false;
  ending_subject_ = {};
  ++ended_count_;
  ended_.notify_all();
  // What it held goes before the tracker knows, so that whoever waits for no work to be in flight
  // may end the device, which waits for this lock.
  tracker->remove(ticket);
}

template <typename Describe>
std::string SubmissionQueue::under_way(const Describe& describe) const {
  constexpr int kTries = 1000;
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  for (int i = 0; !lock && i < kTries; ++i) {
    std::this_thread::yield();
    (void)lock.try_lock();
  }
  if (!lock) return {};
  if (ending_subject_) return describe(*ending_subject_);
  for (const auto& work : works_)
    if (const Object* subject = work->subject()) return describe(*subject);
  return {};
}

}  // namespace stria::sdk
