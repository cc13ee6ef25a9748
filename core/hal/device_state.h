// SPDX-License-Identifier: Apache-2.0
// What the handles of this room share: a loaded plugin and an open device. Children hold their
// parent, a device its plugin, so that the plugin's objects go in the order it expects whatever
// order the caller's handles go in.
#pragma once

#include <cxxabi.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "stria/base/status.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/received.h"
#include "stria/hal/boundary/tables.h"
#include "stria/hal/files/manifest.h"
#include "stria/hal/guard/call_in_flight.h"
#include "stria/hal/guard/watchdog.h"
#include "stria/hal/host/host.h"
#include "stria/hal/host/services.h"

// For functions that see a thread end in a plugin. The sanitizer takes the object of the forced
// end, which has no address, for a null reference. Of GCC's spellings this one reaches templates;
// clang knows the other.
#if defined(__clang__)
#define STRIA_SEES_THREADS_END __attribute__((no_sanitize("null")))
#else
#define STRIA_SEES_THREADS_END [[gnu::no_sanitize_undefined]]
#endif

namespace stria::hal {

enum class Noun { device, compiler, library, kernel, executor, buffer, event };
inline constexpr int kNounCount = 7;
std::string_view name_of(Noun noun);

struct PluginState {
  Manifest manifest;
  std::filesystem::path directory;  // absolute
  Tables tables{};
  TableSizes table_sizes{};
  const void* (*get_extension)(stria_string, uint32_t) = nullptr;
  std::shared_ptr<Services> services;
  stria_driver* driver = nullptr;  // null after a shutdown that has come back
  std::atomic<bool> shut_down = false;
  std::shared_ptr<void> library;  // keeps the shared object loaded
  pid_t process = 0;
  const std::string* watched_name = nullptr;            // the manifest's id, for the watchdog
  std::chrono::milliseconds time_limit{0};              // of each call that has one
  Reader reader = Reader::user;                         // of what its errors say
  bool always_back = false;                             // no call of it hangs
  std::array<std::atomic<int64_t>, kNounCount> live{};  // handles alive, by noun

  PluginState() = default;
  PluginState(const PluginState&) = delete;
  PluginState& operator=(const PluginState&) = delete;
  ~PluginState();

  // Calls a slot; `slot` is a literal, "executor.fill". A failure's message says plugin and slot;
  // an exception that comes out of the plugin is its fault and becomes `incompatible`.
  template <typename... Params, typename... Args>
  STRIA_SEES_THREADS_END Status call(std::string_view slot, stria_error* (*function)(Params...),
                                     Args... args) const {
    const CallInFlight in_flight(manifest.id.c_str(), slot);
    const Watchdog::Call watched(watchdog(), watched_name, slot.data());
    stria_error* error = nullptr;
    try {
      error = function(args...);
    } catch (const abi::__forced_unwind&) {
      end_of_thread(*CallInFlight::innermost());
      throw;
    } catch (...) {
      return thrown(slot);
    }
    return error ? failed(slot, error) : Status();
  }
  // Calls a slot whose last two parameters are a sink and its state; what was sent, or the first
  // thing that was wrong with it.
  template <typename T, typename Function, typename Sink, typename... Args>
  Result<std::vector<T>> received(std::string_view slot, Function function, Sink sink,
                                  Args... args) const {
    Received<T> got;
    STRIA_RETURN_IF_ERROR(call(slot, function, args..., sink, static_cast<void*>(&got)));
    if (!got.fault.ok()) return in_slot(slot, got.fault);
    return std::move(got.items);
  }
  // The same for slots that return nothing.
  template <typename... Params, typename... Args>
  STRIA_SEES_THREADS_END Status call(std::string_view slot, void (*function)(Params...),
                                     Args... args) const {
    const CallInFlight in_flight(manifest.id.c_str(), slot);
    const Watchdog::Call watched(watchdog(), watched_name, slot.data());
    try {
      function(args...);
    } catch (const abi::__forced_unwind&) {
      end_of_thread(*CallInFlight::innermost());
      throw;
    } catch (...) {
      return thrown(slot);
    }
    return Status();
  }
  // Releases a handle and counts it off.
  template <typename Handle>
  void release(Noun noun, std::string_view slot, void (*function)(Handle*), Handle* handle) {
    (void)call(slot, function, handle);  // what comes out of it stands in the log
    live[static_cast<size_t>(noun)].fetch_sub(1, std::memory_order_relaxed);
  }
  void count(Noun noun, int64_t change = 1) {
    live[static_cast<size_t>(noun)].fetch_add(change, std::memory_order_relaxed);
  }

  const Watchdog* watchdog() const { return always_back ? nullptr : services->host().watchdog(); }
  Status thrown(std::string_view slot) const;
  Status failed(std::string_view slot, stria_error* error) const;
  // `status` with the plugin and the slot before it.
  Status in_slot(std::string_view slot, const Status& status) const;
  // A slot that succeeded without giving what it is there for.
  Status gave_nothing(std::string_view slot) const;
  // What a wait for `what` that ended with `waited` says to a caller who would have waited
  // `timeout_ns`: the wait limit came first.
  static constexpr std::string_view kHangs =
      "the device hangs, or the plugin never says that it is done";
  Status after_wait(std::string_view what, uint64_t timeout_ns, Status waited,
                    std::string_view reason = kHangs) const;
  // Ok if the driver is alive and this is the process that made it.
  Status usable() const;
};

// An open device; its destructor gives it back.
struct DeviceState {
  std::shared_ptr<PluginState> plugin;
  stria_device* handle;
  DeviceInfo info;

  DeviceState(std::shared_ptr<PluginState> plugin, stria_device* handle);
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState();
  const Tables& tables() const { return plugin->tables; }
};

}  // namespace stria::hal
