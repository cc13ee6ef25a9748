// SPDX-License-Identifier: Apache-2.0
// A driver of the test's own making, which fails where real ones hardly ever do, and tells what it
// was asked for.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "loader.h"

namespace stria::opencl {

// What was called, in order; from any thread.
class Calls {
 public:
  void add(const std::string& call) {
    std::lock_guard<std::mutex> lock(mutex_);
    all_.push_back(call);
  }
  std::vector<std::string> take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::move(all_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;  // guarded by mutex_
};
inline Calls calls;

// Handles that stand for nothing.
template <typename Handle>
Handle some() {
  static char place;
  return reinterpret_cast<Handle>(&place);
}

// What the driver says of its commands.
struct Answers {
  std::atomic<cl_int> wait = CL_SUCCESS;
  std::atomic<cl_int> status = CL_COMPLETE;
  std::atomic<cl_int> finish = CL_SUCCESS;
  std::atomic<cl_int> status_when_finished = CL_COMPLETE;
  void all_well() {
    wait = finish = CL_SUCCESS;
    status = status_when_finished = CL_COMPLETE;
  }
};
inline Answers answers;

// It takes commands and says of them what the test wants.
OpenCl telling_driver();

}  // namespace stria::opencl
