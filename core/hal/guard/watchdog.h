// SPDX-License-Identifier: Apache-2.0
// Calls into plugins that should have returned. Most slots promise to return at once: whoever calls
// one cannot stop waiting, but somebody else can say that it hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace stria::hal {

class Watchdog {
  struct Thread;
  // What a thread is in; all zero: in no call that is watched.
  struct Entry {
    uint64_t number = 0;  // of the thread's calls, from 1
    const Watchdog* owner = nullptr;
    const std::string* plugin = nullptr;
    const char* slot = nullptr;
  };

 public:
  using Duration = std::chrono::nanoseconds;
  // The plugin's id, its slot and for how long it has been in it.
  using OnHang =
      std::function<void(std::string_view plugin, std::string_view slot, double seconds)>;

  // `on_hang` is told, on a thread of the watchdog's, of each call that takes longer than `limit`,
  // once; of a wait, which has that limit itself, when it takes twice as long and a second more. It
  // must not destroy the watchdog.
  Watchdog(Duration limit, OnHang on_hang);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // One call into a plugin, as long as it lasts, on the thread that makes it. It writes a few words
  // and reads no clock: that the same call is still there is what the watchdog sees.
  class Call {
   public:
    // `watchdog` may be null. `plugin` is one of name_for_ever's, `slot` a literal.
    Call(const Watchdog* watchdog, const std::string* plugin, const char* slot) noexcept;
    ~Call() {
      if (thread_ != nullptr) leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    void leave() noexcept;
    Thread* thread_ = nullptr;
    Entry outer_;
  };

  // As long as it lasts, calls of this thread are not watched: somebody else waits for them with a
  // limit, and goes on without them.
  class Pause {
   public:
    Pause() noexcept : outer_(paused_) { paused_ = true; }
    ~Pause() { paused_ = outer_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    bool outer_;
  };

  // A copy that is never destroyed, one for each text.
  static const std::string* name_for_ever(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    uint64_t number = 0;
    Clock::time_point since;
    bool told = false;
  };

  void look();

  const Duration limit_;
  const OnHang on_hang_;
  std::map<const Thread*, Seen> seen_;  // of the watchdog's thread only
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;  // guarded by mutex_
  std::thread thread_;

  static thread_local constinit inline bool paused_ = false;
};

}  // namespace stria::hal
