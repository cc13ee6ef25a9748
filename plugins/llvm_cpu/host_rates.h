// SPDX-License-Identifier: Apache-2.0
// What one core of this machine reaches with the code that this plugin makes: multiply-adds and
// reads from caches and memory, by element type. Measured once when the device is opened for the
// first time, and kept in a file of the user's for later processes.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "processor.h"
#include "stria/base/status.h"

namespace stria::llvm_cpu {

struct HostRates {
  struct OfType {
    double ops_per_cycle = 0;  // a multiply-add is two
    // Read in a cycle; 0: not measured.
    double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0, dram_bytes = 0;
  };
  double clock_mhz = 0;                 // the clock that cycles count; 0: not measured
  std::map<std::string, OfType> types;  // "fp32"; those that were measured
  bool complete = false;                // nothing was left out for want of time
};

// Compiles and times on the calling thread: about 0.2 s on an idle core, and what is
// not done after `limit` is left out. Of several short runs the fastest counts, so that other work
// on the machine hardly shows. Never fails: what cannot be measured is left out.
HostRates measure_host_rates(const Processor& processor, std::chrono::milliseconds limit);

// What rates depend on, as one line of text: this plugin's version and the processor.
std::string host_rates_key(const Processor& processor);

// The rates kept in `folder` under `key`; a file that is missing, damaged or of another key gives
// nullopt.
std::optional<HostRates> read_host_rates(const std::filesystem::path& folder,
                                         const std::string& key);
// Keeps them, whole or not at all; makes the folder if need be.
Status write_host_rates(const std::filesystem::path& folder, const std::string& key,
                        const HostRates& rates);

// The rates kept, or else measured and kept. nullopt where they could not be kept: each process
// would measure again. Rates that are not complete are used, and not kept.
std::optional<HostRates> host_rates(const Processor& processor, const std::filesystem::path& folder,
                                    std::chrono::milliseconds limit);

}  // namespace stria::llvm_cpu
