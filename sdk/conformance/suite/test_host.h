// SPDX-License-Identifier: Apache-2.0
// A host for a plugin under test: the product's own services, with a look at what the plugin asks
// for, and failures where a case wants them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/hal/host/host.h"
#include "stria/hal/host/services.h"
#include "stria/plugin.h"

namespace stria::conformance {

class TestHost {
 public:
  explicit TestHost(unsigned threads = 2);
  ~TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  // Valid as long as this object.
  const stria_host_services& services() const { return table_; }

  // The n-th allocation from now (1: the next) and all after it give no memory; 0: none fails.
  void fail_allocation(int64_t n) { allocations_left_ = n; }
  // How many allocations have failed by that.
  int64_t allocations_refused() const { return refused_; }
  // The same for calls of cache_put and cache_get, which fail with unavailable.
  void fail_cache(bool fail) { cache_fails_ = fail; }
  // What the plugin has taken and not given back: "1 kernel"; "" if nothing. Waits for up to
  // `milliseconds`, times the user's patience, until that is so: work in flight holds memory.
  std::string taken(int milliseconds = 0) const;
  int64_t allocations_held() const { return held_; }
  // How many kernels the interpreter has run for the plugin.
  uint64_t kernels_run() const { return kernels_run_; }
  std::vector<std::string> log() const;
  // Which services the plugin has asked for since the last call, from the first call on:
  // "parallel_for", "allocate".
  std::set<std::string> asked_from_now_on();
  // Called at the begin of each call of log, allocate, free and post, on the plugin's thread, with
  // the service's name; empty: nothing is.
  void watch(std::function<void(const char* service)> watcher);
  // What a plugin has done wrong with the memory of any test host since the last call; "" if
  // nothing. It carries its rule.
  static std::string take_misuse();
  // Starts all of its threads, which otherwise begin with the first work: for whoever counts those
  // of a plugin.
  void start_threads() const;

 private:
  struct Slots;
  void note(const char* service);
  std::shared_ptr<hal::Host> host_;
  hal::Services services_;
  stria_host_services table_{};
  std::atomic<int64_t> allocations_left_{0}, held_{0}, refused_{0};
  std::atomic<uint64_t> kernels_run_{0};
  std::atomic<bool> cache_fails_{false}, notes_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> log_;  // guarded by mutex_, as all that follow
  std::set<std::string> asked_;
  std::shared_ptr<const std::function<void(const char*)>> watcher_;
  struct Block {
    uint64_t bytes, alignment;
  };
  std::unordered_map<void*, Block> blocks_;
};

}  // namespace stria::conformance
