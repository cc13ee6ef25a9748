// SPDX-License-Identifier: Apache-2.0
// What a plugin finds in its process and what it leaves there, beside hal::ProcessState: threads,
// children, descriptors, signal handlers, variables, how floats round.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "stria/hal/guard/process_state.h"

namespace stria::conformance {

struct ProcessFacts {
  hal::ProcessState state;
  std::set<std::string> threads;           // ids and names: "123 worker"
  std::set<int> children;                  // processes that are its own, ended ones too
  std::map<int, std::string> descriptors;  // what each stands for
  std::map<int, std::uintptr_t> handlers;  // signal -> handler
  std::map<std::string, std::string> variables;
  int rounding = 0;
  unsigned float_flags = 0;  // of the processor: flush to zero and its kind; 0 where not known
  std::string locale;
  uint64_t mapped_bytes = 0;  // of the process, all mappings

  static ProcessFacts now();
};

// How many threads and open descriptors the process has.
int thread_count();
int descriptor_count();

}  // namespace stria::conformance
