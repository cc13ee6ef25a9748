// SPDX-License-Identifier: Apache-2.0
// `stria reduce`: makes a failing Stripe program small and keeps the failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

// As spelled on the command line; empty texts mean "not given".
struct ReduceOptions {
  std::string file;
  std::string test;  // a shell command
  std::string says;  // what the command must print
  std::string pipeline;
  std::string hw;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string output;
  bool invalid = false;
  bool exact = false;
  int64_t seed = 1;  // of the inputs
  double time_limit_s = 600;
};
Outcome reduce(const ReduceOptions& options);

}  // namespace stria::command
