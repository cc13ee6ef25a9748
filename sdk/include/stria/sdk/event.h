// SPDX-License-Identifier: Apache-2.0
// Events, and the work behind them: a graph in which work starts when all that it waits for is
// done, on the host's worker threads. A failure travels to everything that depends on it.
//
//   Ref<Event> done = schedule(host, host.tracker(), waits, [=] { … });   // throws Error to fail
//   Ref<Event> done = start_when(host, host.tracker(), waits, [=](const Ref<StartedWork>& work) {
//     …   // hand it to a queue; at its end: work->finish(outcome, begin_ns, end_ns)
//   });
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/error.h"
#include "stria/sdk/host.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

class Event;
class Work;

// Events to wait for; valid during a call.
struct Waits {
  Event* const* events = nullptr;
  uint64_t count = 0;
};

// A queue of works, first in first out; each entry holds a reference.
class WorkList {
 public:
  WorkList() = default;
  WorkList(const WorkList&) = delete;
  WorkList& operator=(const WorkList&) = delete;
  inline void push(Ref<Work> work);
  inline Ref<Work> pop();

 private:
  Work* first_ = nullptr;
  Work* last_ = nullptr;
};

// Monotonic nanoseconds.
inline uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// An event that somebody signals: the host, or what ends a work. Thread-safe. Dropped
// unsignalled it fails with STRIA_CANCELLED.
class Event : public Object {
 public:
  explicit Event(const Host& host) : host_(host) {}
  inline ~Event() override;

  bool done() const { return done_.load(std::memory_order_acquire); }
  // Waits; false if the event is still open after `timeout_ns`. Without a limit, the calling thread
  // helps: it does the work if that is waiting for a worker, and takes part in loops of others.
  inline virtual bool wait(uint64_t timeout_ns);
  // Null if all is well. Only when done.
  const Outcome& outcome() const { return outcome_; }
  // Nanoseconds of the work itself, 0 if that is not known. Only when done.
  uint64_t duration_ns() const { return end_ns_ - begin_ns_; }
  // Times by the clock of whoever did the work. Both 0: not known, or no work. Equal: it took no
  // time.
  uint64_t begin_ns() const { return begin_ns_; }
  uint64_t end_ns() const { return end_ns_; }

  // Calls callback(state, error) once when done; at once if it is.
  inline void on_done(void (*callback)(void*, const stria_error*), void* state);
  // Ends the event; false if it had ended before. begin and end are the times of the work, both 0:
  // not known, or none.
  inline bool signal(Outcome outcome = nullptr, uint64_t begin_ns = 0, uint64_t end_ns = 0);
  // An event that is done when this one is, and never fails. Executors override it if they have a
  // cheaper way to run after this event's work.
  inline virtual Ref<Event> make_end();
  // True for an event that nobody but its work may end.
  virtual bool is_work() const { return false; }
  // The host has given up its handle. Works may still hold the event.
  virtual void handle_released() {}

 protected:
  const Host& host() const { return host_; }
  // Marks `event` done, and everything that is done with it: dependants of a failure, and light
  // works. Works that become ready go to `ready`.
  inline static void settle(Event& event, Outcome outcome, WorkList& ready);
  // Fails an event that nobody can end any more.
  inline void cancel(const char* why);
  static Outcome cancelled(const char* why) {
    return std::make_shared<Failure>(Failure{STRIA_CANCELLED, why, 0, {}, {}, {}});
  }
  // Hands the works to the host's threads.
  inline static void post_all(const Host& host, WorkList& ready);
  virtual bool help() { return false; }

  uint64_t begin_ns_ = 0;
  uint64_t end_ns_ = 0;

 private:
  friend class Work;
  // One wait of a work, which owns it. In the list of the event that is waited for it holds that.
  struct Dependant {
    Ref<Work> work;
    uint64_t position = 0;  // of the event in the work's wait list
    Dependant* next = nullptr;
  };
  struct Callback {
    void (*call)(void*, const stria_error*);
    void* state;
  };
  // False if the event is done already. Takes no memory: a work waits for all of its events, or has
  // not been started.
  inline bool add_dependant(Dependant& dependant, const Ref<Work>& work, uint64_t position);
  // Polls for a while: short work ends sooner than a sleeping thread wakes.
  inline bool spin(uint64_t timeout_ns) const;
  inline void mark_done(Outcome outcome, WorkList& over, WorkList& ready);
  static void call(const Callback& callback, const Outcome& outcome) {
    if (!outcome) return callback.call(callback.state, nullptr);
    SharedError error(outcome);
    callback.call(callback.state, &error);
  }

  const Host& host_;
  std::atomic<bool> done_{false};
  std::atomic<bool> signalled_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  Outcome outcome_;
  Dependant* dependants_ = nullptr;  // in the order in which they came
  Dependant* last_dependant_ = nullptr;
  std::vector<Callback> callbacks_;
};

// An event that the host signals. It fails with the host's handle, whoever else holds it: after
// that nobody can signal it.
class HostEvent final : public Event {
 public:
  using Event::Event;
  inline void handle_released() override;
};

// An event with work that the host's threads do once the waits are over.
class Work : public Event {
 public:
  ~Work() override {
    if (done()) return;
    cancel("work was dropped before it was done");
    tracker_->remove(ticket_);
  }
  bool is_work() const override { return true; }

 protected:
  // A light work runs on whatever thread ends its last wait: it must take no time.
  Work(const Host& host, Ref<Tracker> tracker, bool light)
      : Event(host), tracker_(std::move(tracker)), ticket_(tracker_->add()), light_(light) {}
  virtual void run() = 0;     // throws Error to fail
  virtual void forget() = 0;  // drops what the work holds; after run, or instead of it
  // Light works and failed waits: what happens when the waits are over. False if the work goes on.
  virtual bool waits_ended(Outcome& outcome) {
    outcome = execute();
    return true;
  }
  // The failure of the first failed wait in list order, null if there is none.
  const Outcome& cause() const { return cause_; }
  // Ends a work that went on after its waits were over.
  void end(Outcome outcome) {
    WorkList ready;
    settle(*this, std::move(outcome), ready);
    post_all(host(), ready);
    tracker_->remove(ticket_);
  }

  // Room for so many waits, so that start() takes no memory.
  void reserve_waits(uint64_t count) {
    if (count <= kFewWaits) return;
    many_waits_ = std::make_unique<Dependant[]>(count);
    wait_room_ = count;
  }
  // Starts the work when `waits` are over. Called once.
  void start(Waits waits) {
    if (waits.count > wait_room_) reserve_waits(waits.count);
    Dependant* const places = many_waits_ ? many_waits_.get() : few_waits_;
    Ref<Work> self(this);
    waiting_.store(waits.count + 1, std::memory_order_relaxed);
    uint64_t over = 1;
    for (uint64_t i = 0; i < waits.count; ++i) {
      if (waits.events[i]->add_dependant(places[i], self, i)) continue;
      note(i, waits.events[i]->outcome());
      ++over;
    }
    WorkList ready;
    if (!waits_over(over)) return;
    if (light_ || cause_)
      end_all(self, ready);
    else
      ready.push(std::move(self));
    post_all(host(), ready);
  }

  bool help() override {
    int expected = kPosted;
    if (!state_.compare_exchange_strong(expected, kRunning)) return false;
    WorkList ready;
    Ref<Work> self(this);
    execute_and_settle(ready);
    post_all(host(), ready);
    tracker_->remove(ticket_);
    return true;
  }

 private:
  friend class Event;
  friend class WorkList;
  static constexpr int kWaiting = 0, kPosted = 1, kRunning = 2;

  // Remembers the failure of the first failed wait in list order.
  void note(uint64_t position, const Outcome& outcome) {
    if (!outcome) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (cause_ && cause_position_ < position) return;
    cause_ = outcome;
    cause_position_ = position;
  }
  // True if that was the last.
  bool waits_over(uint64_t count) {
    return waiting_.fetch_sub(count, std::memory_order_acq_rel) == count;
  }

  Outcome execute() {
    Outcome outcome = cause_;
    if (!outcome) {
      begin_ns_ = now_ns();
      outcome = outcome_of_call([this] { run(); });
      if (!times_set_) end_ns_ = light_ ? begin_ns_ : now_ns();
    }
    forget();
    return outcome;
  }
  void execute_and_settle(WorkList& ready) { settle(*this, execute(), ready); }

  // Ends a work whose waits are over and that needs no worker.
  static void end_all(const Ref<Work>& work, WorkList& ready) {
    Outcome outcome;
    if (!work->waits_ended(outcome)) return;
    settle(*work, std::move(outcome), ready);
    work->tracker_->remove(work->ticket_);
  }

  // What a worker does: this work, then works that it has made ready, one after the other; further
  // ones go to other workers.
  static void take_turn(void* state) {
    Ref<Work> work = Ref<Work>::adopt(static_cast<Work*>(state));
    int expected = kPosted;
    if (!work->state_.compare_exchange_strong(expected, kRunning)) return;
    while (work) {
      WorkList ready;
      work->execute_and_settle(ready);
      Ref<Work> next = ready.pop();
      if (next) next->state_.store(kRunning);
      post_all(work->host(), ready);
      // The last touch of anything that the driver owns.
      work->tracker_->remove(work->ticket_);
      work = std::move(next);
    }
  }

  // Most works wait for few events: no allocation for those.
  static constexpr uint64_t kFewWaits = 2;

  Ref<Tracker> tracker_;
  const Tracker::Ticket ticket_;
  const bool light_;
  Dependant few_waits_[kFewWaits];
  std::unique_ptr<Dependant[]> many_waits_;
  uint64_t wait_room_ = kFewWaits;
  std::atomic<int> state_{kWaiting};
  std::atomic<uint64_t> waiting_{0};
  Outcome cause_;
  uint64_t cause_position_ = 0;
  Work* next_ = nullptr;  // in a WorkList

 protected:
  // For works that stand for others: their own times.
  void set_times(uint64_t begin_ns, uint64_t end_ns) {
    begin_ns_ = begin_ns;
    end_ns_ = end_ns;
    times_set_ = true;
  }

 private:
  bool times_set_ = false;
};

// ---- WorkList

inline void WorkList::push(Ref<Work> work) {
  Work* raw = work.detach();
  raw->next_ = nullptr;
  (last_ ? last_->next_ : first_) = raw;
  last_ = raw;
}

inline Ref<Work> WorkList::pop() {
  Work* raw = first_;
  if (!raw) return {};
  first_ = raw->next_;
  if (!first_) last_ = nullptr;
  return Ref<Work>::adopt(raw);
}

// ---- Event

inline bool Event::add_dependant(Dependant& dependant, const Ref<Work>& work, uint64_t position) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (done_.load(std::memory_order_relaxed)) return false;
  dependant.work = work;
  dependant.position = position;
  (last_dependant_ ? last_dependant_->next : dependants_) = &dependant;
  last_dependant_ = &dependant;
  return true;
}

inline void Event::mark_done(Outcome outcome, WorkList& over, WorkList& ready) {
  Dependant* dependants = nullptr;
  std::vector<Callback> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    outcome_ = std::move(outcome);
    dependants = std::exchange(dependants_, nullptr);
    callbacks.swap(callbacks_);
    done_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
  for (const Callback& callback : callbacks) call(callback, outcome_);
  while (dependants) {
    // Out of the list first: it goes with its work.
    const Dependant& dependant = *dependants;
    Ref<Work> work = std::move(dependants->work);
    const uint64_t position = dependant.position;
    dependants = dependant.next;
    work->note(position, outcome_);
    if (!work->waits_over(1)) continue;
    WorkList& list = work->light_ || work->cause_ ? over : ready;
    list.push(std::move(work));
  }
}

inline void Event::settle(Event& event, Outcome outcome, WorkList& ready) {
  WorkList over;
  event.mark_done(std::move(outcome), over, ready);
  // A list, not recursion: chains of dependants may be long.
  while (Ref<Work> work = over.pop()) {
    Outcome own;
    if (!work->waits_ended(own)) continue;
    work->mark_done(std::move(own), over, ready);
    work->tracker_->remove(work->ticket_);
  }
}

inline void Event::post_all(const Host& host, WorkList& ready) {
  while (Ref<Work> work = ready.pop()) {
    work->state_.store(Work::kPosted);
    host.post(Work::take_turn, work.detach());
  }
}

inline bool Event::signal(Outcome outcome, uint64_t begin_ns, uint64_t end_ns) {
  if (signalled_.exchange(true)) return false;
  begin_ns_ = begin_ns;
  end_ns_ = end_ns;
  WorkList ready;
  settle(*this, std::move(outcome), ready);
  post_all(host_, ready);
  return true;
}

inline void Event::cancel(const char* why) {
  WorkList ready;
  settle(*this, cancelled(why), ready);
  post_all(host_, ready);
}

inline void HostEvent::handle_released() {
  if (!done()) signal(cancelled("a host event was released before it was signalled"));
}

inline Event::~Event() {
  if (!done()) cancel("an event was dropped before it was signalled");
}

inline bool Event::spin(uint64_t timeout_ns) const {
  constexpr uint64_t kSpinNs = 20'000;
  const uint64_t end = now_ns() + std::min(timeout_ns, kSpinNs);
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  } while (now_ns() < end);
  return false;
}

inline bool Event::wait(uint64_t timeout_ns) {
  if (done()) return true;
  if (timeout_ns == 0) return false;
  const bool unlimited = timeout_ns == UINT64_MAX;
  if (unlimited && help()) return true;
  const auto is_done = [](void* event) -> uint8_t { return static_cast<Event*>(event)->done(); };
  if (unlimited && host_.lends() ? host_.lend(is_done, this) : spin(timeout_ns)) return true;
  std::unique_lock<std::mutex> lock(mutex_);
  return wait_for(changed_, lock, timeout_ns, [this] { return done(); });
}

inline void Event::on_done(void (*callback)(void*, const stria_error*), void* state) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!done_.load(std::memory_order_relaxed)) {
      callbacks_.push_back({callback, state});
      return;
    }
  }
  call({callback, state}, outcome_);
}

// ---- Making works

template <typename Body>
class BodyWork final : public Work {
 public:
  BodyWork(const Host& host, Ref<Tracker> tracker, bool light, Body body)
      : Work(host, std::move(tracker), light), body_(std::move(body)) {}
  void begin(Waits waits) { start(waits); }

 protected:
  void run() override { (*body_)(); }
  void forget() override { body_.reset(); }

 private:
  std::optional<Body> body_;
};

// `body()` on a worker thread when `waits` are over; counted in `tracker` until its event is done.
template <typename Body>
Ref<Event> schedule(const Host& host, const Ref<Tracker>& tracker, Waits waits, Body body) {
  auto work = make<BodyWork<Body>>(host, tracker, false, std::move(body));
  work->begin(waits);
  return work;
}

// Done when `waits` are: no thread is needed.
inline Ref<Event> when_done(const Host& host, const Ref<Tracker>& tracker, Waits waits) {
  auto nothing = [] {};
  auto work = make<BodyWork<decltype(nothing)>>(host, tracker, true, nothing);
  work->begin(waits);
  return work;
}

// Done, and well, when `event` is, whatever became of it.
class EndWork final : public Work {
 public:
  EndWork(const Host& host, Ref<Tracker> tracker) : Work(host, std::move(tracker), true) {}
  void begin(Event& event) {
    Event* const waits[] = {&event};
    start({waits, 1});
  }

 protected:
  void run() override {}
  void forget() override {}
  bool waits_ended(Outcome&) override { return true; }
};

inline Ref<Event> Event::make_end() {
  auto work = make<EndWork>(host_, host_.tracker());
  work->begin(*this);
  return work;
}

// Work that is not done by the host's threads, but by a queue of the device or a driver's callback.
// Whoever ends it calls finish, once. Dropped unfinished, it fails with STRIA_CANCELLED.
class StartedWork : public Work {
 public:
  // begin and end: when the work itself ran, by one clock for all works of an executor; both 0: not
  // at all, or not known. Thread-safe.
  void finish(Outcome outcome, uint64_t begin_ns = 0, uint64_t end_ns = 0) {
    if (finished_.exchange(true)) return;
    early_ = std::move(outcome);
    set_times(begin_ns, end_ns);
    // While it is being started, who starts it also ends it: no recursion along a chain of works
    // that are done before their start has returned.
    if (phase_.exchange(kFinished) == kHandedOn) end(std::move(early_));
  }

 protected:
  StartedWork(const Host& host, Ref<Tracker> tracker) : Work(host, std::move(tracker), true) {}
  bool waits_ended(Outcome& outcome) override {
    outcome = cause();
    if (!outcome) outcome = outcome_of_call([this] { run(); });
    forget();
    if (outcome && !finished_.exchange(true)) return true;
    int expected = kStarting;
    if (phase_.compare_exchange_strong(expected, kHandedOn)) return false;
    outcome = std::move(early_);
    return true;
  }

 private:
  static constexpr int kStarting = 0, kHandedOn = 1, kFinished = 2;
  std::atomic<int> phase_{kStarting};
  std::atomic<bool> finished_{false};
  Outcome early_;
};

template <typename Start>
class BodyStartedWork final : public StartedWork {
 public:
  BodyStartedWork(const Host& host, Ref<Tracker> tracker, Start start_body)
      : StartedWork(host, std::move(tracker)), start_(std::move(start_body)) {}
  void begin(Waits waits) { start(waits); }

 protected:
  void run() override { (*start_)(Ref<StartedWork>(this)); }
  void forget() override { start_.reset(); }

 private:
  std::optional<Start> start_;
};

// Calls start(const Ref<StartedWork>&) once when `waits` are over and well, on whatever thread
// ended the last of them: it hands the work on and returns soon, or throws Error to fail. Counted
// in `tracker` until the work is finished.
template <typename Start>
Ref<Event> start_when(const Host& host, const Ref<Tracker>& tracker, Waits waits, Start start) {
  auto work = make<BodyStartedWork<Start>>(host, tracker, std::move(start));
  work->begin(waits);
  return work;
}

// When the works of `parts`, all done and well, ran: from the first start to the last end; both 0
// if that of one is not known.
struct Times {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};
inline Times times_of(const std::vector<Ref<Event>>& parts) {
  Times all;
  for (const Ref<Event>& part : parts) {
    const Times own{part->begin_ns(), part->end_ns()};
    if (own.begin_ns == 0 && own.end_ns == 0) return {};
    // What took no time was done by nobody, perhaps by another clock than the rest.
    if (all.begin_ns == all.end_ns)
      all = own;
    else if (own.begin_ns != own.end_ns)
      all = {std::min(all.begin_ns, own.begin_ns), std::max(all.end_ns, own.end_ns)};
  }
  return all;
}

// One event for all `parts`: it is done when they are, with the first failure in their order, and
// with the times of all.
class JoinWork final : public Work {
 public:
  // With room for `count` parts: begin() takes no memory.
  JoinWork(const Host& host, Ref<Tracker> tracker, size_t count)
      : Work(host, std::move(tracker), true) {
    parts_.reserve(count);
    waits_.reserve(count);
    reserve_waits(count);
  }
  void begin(const std::vector<Ref<Event>>& parts) {
    parts_.assign(parts.begin(), parts.end());
    for (const Ref<Event>& part : parts) waits_.push_back(part.get());
    start({waits_.data(), waits_.size()});
  }

 protected:
  void run() override {
    const Times times = times_of(parts_);
    set_times(times.begin_ns, times.end_ns);
  }
  void forget() override { parts_.clear(); }

 private:
  std::vector<Ref<Event>> parts_;
  std::vector<Event*> waits_;
};

inline Ref<Event> join(const Host& host, const Ref<Tracker>& tracker,
                       const std::vector<Ref<Event>>& parts) {
  auto work = make<JoinWork>(host, tracker, parts.size());
  work->begin(parts);
  return work;
}

}  // namespace stria::sdk
