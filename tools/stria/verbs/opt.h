// SPDX-License-Identifier: Apache-2.0
// `stria opt`: parses, verifies and prints a Stripe file, with a pipeline in between if one is
// given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

// As spelled on the command line; empty texts mean "not given".
struct OptOptions {
  std::string file;
  std::string pipeline;
  std::vector<std::string> hw;        // a model, then what refines it
  std::vector<std::string> settings;  // NAME=VALUE
  bool print_after_all = false;
  bool print_pipeline = false;  // and nothing else
  std::string stop_after;
  int64_t interleavings = 0;  // to try the program under; 0: none
  std::string explain;        // name of a pass
  std::string repro_dir;      // of reproducers; empty: the working directory
  std::string run_repro;      // a reproducer to try again, and nothing else
};
Outcome opt(const OptOptions& options);

// Every pass with its options, for --help.
std::string passes_help();

}  // namespace stria::command
