// SPDX-License-Identifier: Apache-2.0
// What PoCL, the OpenCL driver that runs on the CPU, takes for granted. If something is missing,
// PoCL ends the whole process, or says that it has no device. Each need is checked before PoCL has
// it, and what is missing becomes the reason why the device is not available.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "stria/base/status.h"

namespace stria::opencl {

// Lives while PoCL is asked for its devices; it reads its environment then, and starts its threads.
// The first time that nothing is missing, PoCL is given a folder of this plugin's for what it
// builds, unless POCL_CACHE_DIR names one.
class PoclStart {
 public:
  // `sysfs`: the folder in which the system describes its hardware. `version`: what the platform
  // says of its own version.
  PoclStart(const std::string& sysfs, const std::string& version);
  ~PoclStart();
  PoclStart(const PoclStart&) = delete;
  PoclStart& operator=(const PoclStart&) = delete;
  // Unavailable or out_of_memory: what is missing, and what to set. PoCL must not be asked then.
  const Status& status() const { return status_; }

 private:
  std::unique_lock<std::mutex> lock_;  // one at a time: PoCL starts once
  Status status_;
  bool sets_variable_ = false;
};

// Call it before PoCL builds a program. The failure is unavailable or out_of_memory. Thread-safe.
Status check_pocl_can_build();
// Call it when programs are released: what PoCL has built is kept for the next process.
void record_pocl_folder();
// Why PoCL, which could start, has no device.
std::string why_pocl_has_no_device();

// ---- one by one

// POCL_MAX_PTHREAD_COUNT: a negative number crashes PoCL.
Status check_thread_count(const char* text);
// So many bytes of address space, as `what` needs them.
Status check_memory(uint64_t bytes, const char* what);
// So many threads beside those that there are, each with a stack that holds PoCL's work.
Status check_threads(unsigned count);
// So many files beside those that are open.
Status check_open_files(unsigned count);
// A file may grow as large as what PoCL writes.
Status check_file_size();
// `path`, which has the form of PATH, has the linker.
Status check_linker(const char* path);
// How a child ends is kept for whoever waits for it, as PoCL does for the linker.
Status check_ends_of_children();

}  // namespace stria::opencl
