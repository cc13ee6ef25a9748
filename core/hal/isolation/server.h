// SPDX-License-Identifier: Apache-2.0
// The plugin's side: each message is a call of a slot. Slots that do not block are called by the
// thread that receives, so that they come in the order of the messages; the others by workers.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "stria/hal/boundary/received.h"
#include "stria/hal/device_state.h"
#include "stria/hal/host/host.h"
#include "stria/hal/isolation/channel.h"
#include "stria/hal/isolation/messages.h"
#include "stria/hal/isolation/objects.h"
#include "stria/hal/isolation/shared_heap.h"
#include "stria/hal/isolation/workers.h"
#include "stria/hal/plugin.h"

namespace stria::hal::isolation {

// The failure of a function of core/hal as one of a slot.
[[noreturn]] inline void fail_with(const Status& status) {
  const auto code = status.code() == kPluginFault ? stria_code{STRIA_INTERNAL}
                                                  : static_cast<stria_code>(status.code());
  throw sdk::Error(sdk::Failure{code, status.message(), 0, {}, {}, {}});
}

// What a sink has received.
template <typename T>
std::vector<T> all_of(Received<T>& got) {
  if (!got.fault.ok()) fail_with(got.fault);
  return std::move(got.items);
}

// Lives as long as its process.
class Server {
 public:
  Server(HostFunctions functions, int socket, int heap);
  // Until the host has gone; then the process ends.
  [[noreturn]] void serve();

 private:
  // A mapping that the host has.
  struct Mapping {
    stria_buffer* buffer = nullptr;
    std::byte* memory = nullptr;  // the plugin's
    std::byte* staged = nullptr;  // what the host sees instead; null: it sees the plugin's
    uint64_t bytes = 0;
    MapMode mode = MapMode::current;
    bool travels = false;             // bytes come and go in messages
    std::atomic<bool> failed{false};  // nothing is written to the buffer
  };
  // An event whose end the host wants to know.
  struct Watched {
    Id id = 0;
    stria_event* handle = nullptr;
    // What there is to do between the end and the host's knowing of it; may take long.
    std::function<void(const sdk::Outcome&)> before_done;
    std::atomic<int> holders{2};  // the end, the release, who helps: the last releases
  };

  // What the thread that receives does, until another has taken that over.
  void receive();
  // Waits for messages and reads them; false if the host has gone. Looks without sleeping for
  // `moment`; then it sleeps, or, if `briefly`, gives up.
  bool next_messages(std::chrono::microseconds moment, bool briefly);
  // Hands tasks that were taken to the workers, all but the first `kept`.
  void post_tasks(size_t kept);
  // Does what there is to do for the event that the host waits for: that costs no change of
  // threads. False if it took so long that another thread receives now.
  bool help();
  // Receives when the thread that does helps for long; for ever.
  [[noreturn]] void stand_by();
  void handle(const Message& message);
  void handle_work(const Message& message);
  [[noreturn]] void give_up(const std::string& why);

  // ---- server.cc
  Hello::Answer hello(const Hello& message);
  Devices enumerate();
  DeviceFields open(const Open& message);
  void close(const Close& message);
  void build(const Build& message);
  Kernels kernels(const ListKernels& message);
  Estimate::Answer estimate(const Estimate& message);
  void release(const Release& message);

  // ---- server_work.cc
  void submit(const Submit& message);
  Map::Answer map(const Map& message);
  stria_event* unmap(const Unmap& message);
  void take_bytes(const Bytes& message);
  // Brings what the buffer holds to where the host sees it.
  void fetch(Id id, const Mapping& mapping);
  std::vector<stria_event*> waits_of(const Ids& ids) const;
  void watch(Id id, stria_event* event,
             std::function<void(const sdk::Outcome&)> before_done = nullptr);
  static void on_event_done(void* state, const stria_error* error);
  void event_done(const std::shared_ptr<Watched>& event, sdk::Outcome outcome);
  void drop(const std::shared_ptr<Watched>& event);
  void release_event(Id id, const Objects::Object& object);
  void wait(const Wait& message);

  // Calls a slot, and throws what it returns. A thread that ends itself throws an object without an
  // address, which the undefined-behaviour sanitizer would take for a mistake.
  template <typename Function, typename... Args>
  __attribute__((no_sanitize("null"))) void call(std::string_view slot, Function function,
                                                 Args... args) {
    stria_error* error = nullptr;
    try {
      if constexpr (std::is_void_v<decltype(function(args...))>)
        function(args...);
      else
        error = function(args...);
    } catch (const abi::__forced_unwind&) {
      give_up(std::string(slot) + ": it ended the thread that called it");
    } catch (...) {
      throw sdk::Error(STRIA_INTERNAL, "an exception came out of the plugin");
    }
    sdk::check(error);
  }
  // The texts that a slot sends.
  template <typename Function, typename... Args>
  Texts texts(std::string_view slot, Function function, Args... args) {
    Received<NamedText> got;
    call(slot, function, args..., Received<NamedText>::text_sink, static_cast<void*>(&got));
    Texts out;
    for (NamedText& text : all_of(got))
      out.all.push_back({std::move(text.name), std::move(text.text)});
    return out;
  }
  template <typename T>
  static T* given(std::string_view slot, T* result) {
    if (!result)
      throw sdk::Error(STRIA_INTERNAL, std::string(slot) + " succeeded but gave no result");
    return result;
  }

  // Does what a request asks for and answers it.
  template <typename M, typename Work>
  void answer(const Message& message, Work work) {
    answer_to<M>(message.header.request, decoded<M>(message.body), work);
  }
  // The same on a worker.
  template <typename M, typename Work>
  void answer_later(const Message& message, Work work) {
    workers_.run([this, request = message.header.request, body = decoded<M>(message.body), work] {
      answer_to<M>(request, body, work);
    });
  }
  template <typename M, typename Work>
  void answer_to(uint64_t request, const M& message, Work work) {
    Answer<typename M::Answer> answer;
    try {
      if constexpr (std::is_void_v<decltype(work(message))>)
        work(message);
      else
        answer.value = work(message);
    } catch (const sdk::Error& error) {
      answer.failure = error.outcome();
    } catch (const Malformed& error) {
      give_up(error.what());
    }
    channel_.send(encoded(answer, request));
  }
  // Does what begins an event, which fails if that does.
  template <typename M, typename Work>
  void begin(const Message& message, Work work) {
    const M body = decoded<M>(message.body);
    try {
      watch(body.done, work(body));
    } catch (const sdk::Error& error) {
      fail(body.done, error.outcome());
    }
  }
  void fail(Id event, const sdk::Outcome& failure);
  // An object that a slot makes, or why there is none.
  void made(Id id, Noun noun, void* handle) { objects_.add(id, {noun, handle, nullptr}); }

  // One for each process: what a plugin calls back brings a number and no pointer, which it could
  // spoil.
  static inline Server* the_ = nullptr;
  Channel channel_;
  const int heap_descriptor_;
  HostFunctions functions_;
  SharedHeap heap_;
  Workers workers_;
  std::shared_ptr<Host> host_;  // of the plugin
  Plugin plugin_;
  PluginState* state_ = nullptr;  // of plugin_, with its tables
  Objects objects_;
  // Of the thread that receives.
  std::map<Id, std::shared_ptr<Mapping>> mappings_;
  std::shared_ptr<Watched> waited_for_;  // by the host
  struct Task {
    void (*run)(void* state);
    void* state;
  };
  std::vector<Task> tasks_;  // that slots called by this thread have posted
  std::mutex mutex_;
  std::map<uintptr_t, std::shared_ptr<Watched>> watched_;  // by ticket; guarded by mutex_
  std::map<Id, std::shared_ptr<Watched>> unreleased_;      // guarded by mutex_

  using Clock = std::chrono::steady_clock;
  std::atomic<std::thread::id>
      handles_{};                       // the thread that receives, while a slot may be under way
  std::atomic<bool> stands_by_{false};  // a thread does; set with role_mutex_ held
  std::mutex role_mutex_;
  std::condition_variable role_changed_;
  // All guarded by role_mutex_.
  bool sleeps_ = false;  // it, until it is told that one helps
  std::optional<Clock::time_point> helping_since_;
  uint64_t helps_ = 0;  // how often that began, or was taken over
  Clock::time_point last_help_{};
};

}  // namespace stria::hal::isolation
