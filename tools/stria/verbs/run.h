// SPDX-License-Identifier: Apache-2.0
// `stria run`: compiles a program for a device, runs it on tensors from files, shows or writes
// results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

// As spelled on the command line.
struct RunOptions {
  std::string program;
  std::string function;
  std::string device;
  bool explain_device = false;
  std::string devices;  // selectors with semicolons between; empty: one device
  InputTexts in;
  std::vector<std::string> outputs;  // NAME=FILE
  std::string check;                 // "", "all" or "sample:N"
  std::string check_kernels;         // folder for a wrong kernel; empty: not asked for
  int64_t top_k = 0;                 // largest elements of each row that are printed; 0: none
  std::string labels;                // names of classes, a line each; empty: none
  bool profile = false;
  std::vector<std::string> constants;  // NAME
  bool fast_math = false;
  bool no_peepholes = false;
  int tune = 0;                       // candidates that are timed; 0: none
  std::vector<std::string> settings;  // NAME=VALUE, parameters of the device's pipeline
  std::string repro_dir;              // of reproducers; empty: the working directory
  std::string run_repro;              // a reproducer to try again, and nothing else
  double time_limit_s = 0;            // of each wait for the device; 0: none
  unsigned threads = 0;               // of the host; 0: $STRIA_THREADS, or all usable cores
};
Outcome run(const RunOptions& options);

}  // namespace stria::command
