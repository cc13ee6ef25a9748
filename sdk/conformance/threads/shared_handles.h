// SPDX-License-Identifier: Apache-2.0
// One handle of each noun, for several threads that call slots on it at once.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {

struct SharedHandles {
  // With a program where the device can run one.
  static Status make(Subject& subject, bool with_program, SharedHandles& out);

  Subject* subject = nullptr;
  std::optional<DeviceWork> work;
  std::vector<std::string> device_ids;
  Executor executor;
  Compiler compiler;
  Buffer buffer;             // kThreads * kShare bytes
  Event open, done, failed;  // a host event; work; work that failed with data_loss
  std::optional<SmallProgram> program;
  std::optional<LoadedSmall> loaded;
  std::vector<hal::KernelInfo> kernels;
  std::map<std::string, std::string> sources;
  std::atomic<int> signalled{0}, refused{0}, called_back{0};

  static constexpr int kThreads = 8;
  static constexpr uint64_t kShare = 512;  // each thread's bytes of `buffer`
};

}  // namespace stria::conformance
