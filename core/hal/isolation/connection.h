// SPDX-License-Identifier: Apache-2.0
// The host's side of one process in which a plugin runs: starts it, sends it messages, hears what
// it says, and notices its end. A thread of the connection's receives; it starts the process too,
// because the system ends the process with the thread that has started it. Who waits for something
// receives for a moment, too: no other thread has to wake for what is there soon.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stria/hal/guard/child_process.h"
#include "stria/hal/isolation/channel.h"
#include "stria/hal/isolation/isolate.h"
#include "stria/hal/isolation/messages.h"
#include "stria/hal/isolation/shared_heap.h"
#include "stria/sdk/event.h"
#include "stria/sdk/host.h"

namespace stria::hal::isolation {

class Connection;

// An event of the plugin's, or one of the host's that the plugin waits for. Done when the process
// says so, when the host signals it, or failed when the process is lost.
class RemoteEvent final : public sdk::Event {
 public:
  RemoteEvent(const sdk::Host& host, sdk::Ref<Connection> connection, Id id, Kind maker)
      : Event(host), connection_(std::move(connection)), id_(id), maker_(maker) {}
  Connection& connection() const { return *connection_; }
  Id id() const { return id_; }
  Kind maker() const { return maker_; }
  inline bool wait(uint64_t timeout_ns) override;
  bool is_host_event() const { return maker_ == Kind::create_event; }
  bool is_work() const override { return !is_host_event(); }
  // True for the first who asks: he signals it.
  bool claim() { return !claimed_.exchange(true); }
  // Says once to the process that somebody waits for it.
  inline void tell_of_wait();

 private:
  const sdk::Ref<Connection> connection_;
  const Id id_;
  const Kind maker_;
  std::atomic<bool> claimed_{false};
  std::atomic<bool> waited_for_{false};
};

// How long an answer may take.
enum class Limit {
  load,  // three steps: to load, to ask, to make a driver
  step,  // of slots that do not block, and where the host has a limit of its own
  work,  // of slots that may take long
  none   // the slot has a limit itself
};

class Connection final : public sdk::Object {
 public:
  // Starts a process and has it load the plugin in `directory`. Throws sdk::Error.
  static sdk::Ref<Connection> start(const sdk::Host& host, const IsolateOptions& options,
                                    std::string plugin, std::string directory,
                                    std::string driver_options);
  Connection(const sdk::Host& host, const IsolateOptions& options, std::string plugin);
  ~Connection() override = default;

  using Clock = std::chrono::steady_clock;

  // All functions but end() are for any thread.

  Id new_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // Sends a message that has no answer. Throws if the process is lost.
  template <typename M>
  void tell(const M& message) {
    check();
    channel_->send(bytes_of(message, 0));
  }
  // Sends a request and waits for its answer; throws the failure that this is.
  template <typename M>
  typename M::Answer ask(const M& message, Limit limit) {
    const uint64_t request = new_id();
    const std::string body = exchange(M::kKind, request, bytes_of(message, request), limit);
    Answer<typename M::Answer> answer;
    try {
      answer = decoded<Answer<typename M::Answer>>(body);
    } catch (const Malformed& error) {
      give_up(std::string("it sends what is no answer: ") + error.what());
      throw sdk::Error(wait_for_loss());
    }
    if (answer.failure) throw sdk::Error(answer.failure);
    return std::move(answer.value);
  }
  // A release that comes too late changes nothing, nor one that comes a little later.
  void release(Id object, bool at_once);

  // An event that a message will end. Before the message.
  sdk::Ref<RemoteEvent> open_event(Kind maker);
  // It is not waited for any more.
  void forget_event(Id id);

  // Whether the plugin has a slot. Throws STRIA_UNIMPLEMENTED if not.
  enum class SlotNumber : int {
#define SLOT(table, slot) table##_##slot,
#include "stria/hal/boundary/slots.def"
  };
  void check_slot(SlotNumber number, std::string_view name) const;

  // ---- memory that the host sees of a buffer (connection_mappings.cc)

  // Sends the message, but for its mapping, and gives the memory.
  void* map(Map message);
  // Ends the mapping of `buffer` that was given that memory first.
  void unmap(Id buffer, void* memory, Id done);

  // Whether work that was begun is not done.
  bool has_work() const;
  bool lost() const { return is_lost_.load(std::memory_order_acquire); }
  // Throws the loss.
  void check() const;

  // Receives until over() holds, but no longer than a moment and until `end`. Nothing if a thread
  // receives already: it tells.
  template <typename Over>
  void receive_for_a_moment(Clock::time_point end, const Over& over) {
    if (over() || receives() || !kMayLook) return;
    std::unique_lock lock(receiving_, std::try_to_lock);
    if (!lock) return;
    const auto now = Clock::now();
    end = std::min(end, now + kMoment);
    quiet_until_.store((now + kQuiet).time_since_epoch().count(), std::memory_order_relaxed);
    const Receiving receiving(*this, std::move(lock));
    while (!over() && !lost()) {
      if (!receive_now() || Clock::now() >= end) return receive_again();
    }
  }

  // Ends the plugin's work and the process, and waits for that. What the plugin says to it goes to
  // the log. Not from a thread that receives.
  void end();

 private:
  // Longer than a small kernel takes with the way to it and back. A thread that sleeps so long
  // takes longer to wake.
  static constexpr std::chrono::microseconds kMoment{50};
  // Who looks without sleeping keeps a core.
  static inline const bool kMayLook = usable_cores() > 1;
  // After a wait the next one soon comes: so long the connection's own thread leaves messages to
  // those that wait, for each would wake it as well.
  static constexpr std::chrono::microseconds kQuiet{300};
  struct Pending {
    Kind kind;
    std::optional<std::string> answer;  // its body
    std::condition_variable changed;
    std::atomic<bool> answered{false};
  };
  // While it lives, this thread receives, and no other.
  class Receiving {
   public:
    Receiving(Connection& connection, std::unique_lock<std::mutex> lock)
        : connection_(connection), lock_(std::move(lock)) {
      connection_.receiver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Receiving() { connection_.receiver_.store({}, std::memory_order_relaxed); }
    Receiving(const Receiving&) = delete;
    Receiving& operator=(const Receiving&) = delete;

   private:
    Connection& connection_;
    const std::unique_lock<std::mutex> lock_;
  };
  struct Mapping {
    Id buffer = 0;
    void* memory = nullptr;
    uint64_t bytes = 0;
    MapMode mode = MapMode::current;
    std::unique_ptr<std::byte[]> own;  // where no memory is shared
  };

  template <typename M>
  static std::string bytes_of(const M& message, uint64_t request) {
    try {
      return encoded(message, request);
    } catch (const Malformed& error) {
      throw sdk::Error(STRIA_OUT_OF_RANGE, error.what());
    }
  }
  std::string exchange(Kind kind, uint64_t request, std::string message, Limit limit);
  Clock::time_point deadline(Limit limit) const;
  std::string has_not_answered(Kind kind, Limit limit) const;
  // The process is to be ended because of that. The first reason holds.
  void give_up(std::string why);
  sdk::Outcome wait_for_loss();

  // The thread that receives when nobody else does.
  void run();
  Status start_process();
  // Whether this thread receives: a callback of an event that it has ended may be under way.
  bool receives() const {
    return receiver_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  int words_descriptor();
  // Sleeps while others receive. Whether they do.
  bool keep_quiet();
  // Who has received has nobody left to do it: the thread above does again.
  void receive_again();

  // ---- on a thread that receives
  // Takes what is there; false if the process is gone.
  bool receive_now();
  // Waits for bytes and reads them; false if the process is gone.
  bool read_until(Clock::time_point limit);
  // Reads what there is of messages and words after a poll; false if the process is gone.
  bool read(bool words, bool ended);
  void read_words();
  // All messages that were read.
  void handle_all();
  void handle(const Message& message);
  void take_answer(const Message& message);
  void take_bytes(const Bytes& bytes);
  // Pings a process that has work to do, and gives one up that does not answer.
  void look_after();
  void answer_myself(Pending& mine, Limit limit);
  // Ends the process, finds out how it has ended, and fails what is open.
  void lose();
  std::string under_way() const;  // with mutex_ held

  const sdk::Host& host_;
  const IsolateOptions options_;
  const std::string plugin_;
  SharedHeap heap_;
  std::unique_ptr<Channel> channel_;
  int other_end_ = -1;  // the process's end of the socket, until it has it
  uint64_t slots_ = 0;
  std::atomic<Id> next_id_{1};
  std::atomic<bool> is_lost_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // lost_
  std::condition_variable quiet_ends_;
  sdk::Outcome lost_;  // guarded by mutex_, as all up to reason_
  std::map<uint64_t, Pending*> pending_;
  std::map<Id, sdk::Ref<RemoteEvent>> open_;
  std::map<Id, Mapping> mappings_;
  bool loaded_ = false;
  std::string reason_;

  std::thread reader_;
  std::mutex receiving_;  // before mutex_
  std::atomic<std::thread::id> receiver_{};
  std::atomic<Clock::rep> quiet_until_{0};  // of the thread above
  // Of the thread that receives.
  ChildProcess process_;
  Pipe words_;
  std::string words_text_, words_line_;
  int process_descriptor_ = -1;
  std::deque<Message> deferred_;
  Clock::time_point next_look_{};
  std::optional<Clock::time_point> pinged_;
};

inline void RemoteEvent::tell_of_wait() {
  if (is_host_event() || waited_for_.exchange(true)) return;
  Wait message;
  message.event = id_;
  try {
    connection_->tell(message);
  } catch (const sdk::Error&) {
    // The loss of the process ends the wait.
  }
}

inline bool RemoteEvent::wait(uint64_t timeout_ns) {
  if (done() || timeout_ns == 0) return done();
  // With a limit nobody does the work of others (sdk/event.h).
  if (timeout_ns == UINT64_MAX) tell_of_wait();
  const auto now = Connection::Clock::now();
  const auto moment = std::chrono::nanoseconds(std::min<uint64_t>(timeout_ns, 1'000'000'000));
  connection_->receive_for_a_moment(now + moment, [this] { return done(); });
  return Event::wait(timeout_ns);
}

}  // namespace stria::hal::isolation
