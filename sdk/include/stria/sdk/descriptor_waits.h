// SPDX-License-Identifier: Apache-2.0
// A thread that waits for file descriptors: one for each driver, started by the first wait, ended
// before the driver is.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/error.h"

namespace stria::sdk {

// A descriptor that is closed with it.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor) : descriptor_(descriptor) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OwnDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// By errno.
inline Error system_failure(const std::string& what) {
  const int error = errno;
  return Error(Failure{error == EMFILE || error == ENFILE || error == ENOMEM
                           ? STRIA_OUT_OF_MEMORY
                           : STRIA_INVALID_ARGUMENT,
                       what, error, std::strerror(error), "", ""});
}

// All functions may be called from any thread.
class DescriptorWaits {
 public:
  // Called once, on the thread of the waits: true when the descriptor polls readable or is closed
  // at its other end, false when the driver ends before that.
  using End = std::function<void(bool readable)>;

  DescriptorWaits() = default;
  DescriptorWaits(const DescriptorWaits&) = delete;
  DescriptorWaits& operator=(const DescriptorWaits&) = delete;
  ~DescriptorWaits() { stop(); }

  // Starts the thread. STRIA_UNAVAILABLE if the system gives none.
  void start() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (thread_.joinable() || stopped_) return;
    if (wake_.get() < 0) wake_ = OwnDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_.get() < 0) throw system_failure("no descriptor to wait with");
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      throw Error(STRIA_UNAVAILABLE,
                  std::string("no thread to wait for descriptors: ") + error.what());
    }
  }

  // After start(). Once stopped, `end` is called at once with false.
  void add(OwnDescriptor descriptor, End end) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!stopped_) {
        waiting_.push_back({std::move(descriptor), std::move(end)});
        wake();
        return;
      }
    }
    end(false);
  }

  // Ends all waits and the thread. Not from an `end`.
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
      if (!thread_.joinable()) return;
      wake();
    }
    thread_.join();
  }

 private:
  struct Waiting {
    OwnDescriptor descriptor;
    End end;
  };

  void wake() {
    const uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

  void run() {
    while (true) {
      std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stopped_) break;
        for (const Waiting& one : waiting_) polled.push_back({one.descriptor.get(), POLLIN, 0});
      }
      if (::poll(polled.data(), polled.size(), -1) < 0) {
        // Too little memory or too many descriptors for now: nothing is known of any of them.
        if (errno != EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      uint64_t woken = 0;
      (void)!::read(wake_.get(), &woken, sizeof woken);
      end_those(
          [&](const Waiting& one) {
            for (const pollfd& seen : polled)
              if (seen.fd == one.descriptor.get() && seen.revents != 0) return true;
            return false;
          },
          true);
    }
    end_those([](const Waiting&) { return true; }, false);
  }

  // What is called may add others.
  template <typename Which>
  void end_those(Which which, bool readable) {
    std::vector<Waiting> ended;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = waiting_.size(); i-- > 0;) {
        if (!which(waiting_[i])) continue;
        ended.push_back(std::move(waiting_[i]));
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    for (const Waiting& one : ended) one.end(readable);
  }

  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // guarded by mutex_
  bool stopped_ = false;          // guarded by mutex_
  OwnDescriptor wake_{-1};
  std::thread thread_;
};

}  // namespace stria::sdk
